import { describe, expect, test } from 'vitest'
import { FwpError, parseBatch, parseCustom, parseDuration } from '../src/index.ts'

const failure = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    return error instanceof FwpError ? [error.code, error.message] : error
  }
}

describe('custom', () => {
  test("holds a job's expiry, the time of its uniqueness, and its batch", () => {
    const text =
      '{"expires_at":"2026-01-02T03:04:05Z","expires_in":60,"unique_for":"600",' +
      '"unique_until":"start","bid":"b-1","other":[1]}'
    expect(parseCustom(text)).toEqual({
      expiresAtMs: Date.UTC(2026, 0, 2, 3, 4, 5),
      expiresInMs: 60_000,
      uniqueForMs: 600_000,
      uniqueUntil: 'start',
      bid: 'b-1',
    })
  })

  test('null means absent, and 0 seconds of uniqueness mean none', () => {
    expect(parseCustom('{"expires_at":null,"bid":null,"unique_for":0}')).toEqual({})
  })

  test.each([
    '{"expires_at":"soon"}',
    '{"expires_at":12}',
    '{"expires_in":"soon"}',
    '{"expires_in":-1}',
    '{"unique_for":"x"}',
    '{"unique_for":{}}',
    '{"unique_until":"never"}',
    '{"bid":"a b"}',
    '{"unique_for":999999999999}',
  ])('refuses %s', (text) => {
    const [, name, value] = /"(\w+)":(.*)\}$/.exec(text) ?? []
    expect(failure(() => parseCustom(text))).toEqual([
      'INVALID_CUSTOM',
      `invalid custom value for '${name}': ${value}`,
    ])
  })

  test.each([
    ['90', 90_000],
    ['1.5', 1_500],
    ['250ms', 250],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['0.5m', 30_000],
    ['', undefined],
    ['1 h', undefined],
    ['h', undefined],
    ['1m'.repeat(4_000_000), undefined],
  ])('a duration %j is %j ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })
})

describe('BATCH', () => {
  const parse = (text: string): unknown => parseBatch(Buffer.from(text), () => 'made-jid')

  test('NEW has callbacks, which need neither jid nor args', () => {
    const text =
      'NEW {"description":"d","parent_bid":"p","success":{"jobtype":"s"},' +
      '"complete":{"jid":"12345678","jobtype":"c","args":[1],"queue":"q"}}'
    expect(parse(text)).toMatchObject({
      subcommand: 'NEW',
      description: 'd',
      parentBid: 'p',
      success: { jid: 'made-jid', jobtype: 's', args: '[]' },
      complete: { jid: '12345678', jobtype: 'c', args: '[1]', queue: 'q' },
    })
    expect(parse('new {}')).toEqual({ subcommand: 'NEW', description: '' })
  })

  test.each(['OPEN', 'COMMIT', 'STATUS'])('%s names a batch', (subcommand) => {
    expect(parse(`${subcommand} b-1`)).toEqual({ subcommand, bid: 'b-1' })
  })

  test.each(['', 'OPEN', 'OPEN a b', 'CLOSE b', 'NEW ', 'NEW []', 'NEW {"success":1}'])(
    'anything else is invalid: %j',
    (text) => {
      expect(failure(() => parse(text))).toEqual(['INVALID_BATCH', `invalid BATCH ${text}`])
    },
  )

  test('a callback must be a job', () => {
    expect(failure(() => parse('NEW {"success":{}}'))).toEqual([
      'INVALID_JOBTYPE',
      'jobs must have a jobtype parameter',
    ])
  })
})
