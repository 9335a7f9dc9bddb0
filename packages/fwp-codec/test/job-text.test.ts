import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  maxJsonDepth,
  parseJob,
  renderJob,
  scanObject,
  withCustom,
  withoutAttempts,
  writeEnvelope,
} from '../src/index.ts'

const NONE: ReadonlyMap<string, string> = new Map()

function carry(argument: string, overrides = NONE): string {
  const job = parseJob(Buffer.from(argument))
  return renderJob(writeEnvelope(job), overrides, job.args)
}

describe('writeEnvelope', () => {
  test('keeps every field but args, in order and as written', () => {
    const argument =
      '{ "x" : 1.0, "jid":"12345678", "args":[1], "jobtype":"a\\u0062", "y":{ "z":[] } }'
    expect(writeEnvelope(parseJob(Buffer.from(argument)))).toBe(
      '{"x":1.0,"jid":"12345678","jobtype":"a\\u0062","y":{ "z":[] }}',
    )
  })
})

describe('withoutAttempts', () => {
  const deep = `${'['.repeat(maxJsonDepth)}${']'.repeat(maxJsonDepth)}`
  test.each([
    ['{"a":1.0,"attempts":[{"at":"t"}],"b":{"attempts":[1]}}', '{"a":1.0,"b":{"attempts":[1]}}'],
    ['{"attempts":[]}', '{}'],
    ['{ "attempts":3, "b": {"attempts":[]} }', '{"attempts":3,"b":{"attempts":[]}}'],
    ['{"message":"\\"attempts\\":[1]", "b":1}', '{"message":"\\"attempts\\":[1]", "b":1}'],
    [`{"attempts":[${deep}]}`, `{"attempts":[${deep}]}`],
  ])('takes the list out, and nothing else: %#', (failure, shown) => {
    expect(withoutAttempts(failure)).toBe(shown)
  })
})

describe('renderJob', () => {
  test('prints known fields in the order that clients are used to, then the others', () => {
    const argument =
      '{"zz":1,"priority":7,"backtrace":1,"reserve_for":60,"args":["a"],"at":"2020-01-01T00:00:00Z",' +
      '"enqueued_at":"e","created_at":"c","jobtype":"t","queue":"q","jid":"12345678",' +
      '"custom":{"k":1},"failure":{"f":1},"retry":2,"aa":2}'
    expect(carry(argument)).toBe(
      '{"retry":2,"failure":{"f":1},"custom":{"k":1},"jid":"12345678","queue":"q","jobtype":"t",' +
        '"created_at":"c","enqueued_at":"e","at":"2020-01-01T00:00:00Z","args":["a"],' +
        '"reserve_for":60,"backtrace":1,"zz":1,"priority":7,"aa":2}',
    )
  })

  test('no value is reprinted: digits, exponents, escapes and white space survive', () => {
    const args = '[12345678901234567890, 1.0, 1e300, -0, "\\u00e9\\/", {"b":1,"a":2}]'
    const argument = `{"jid":"12345678","jobtype":"t","args":${args},"n":12345678901234567890.10}`
    expect(carry(argument)).toBe(
      `{"jid":"12345678","queue":"default","jobtype":"t","args":${args},"n":12345678901234567890.10}`,
    )
  })

  test.each(['', ',"queue":null', ',"queue":""'])(
    'a job without a queue is shown in default: %j',
    (queue) => {
      const shown = carry(`{"jid":"12345678","jobtype":"t","args":[]${queue}}`)
      expect(shown).toBe('{"jid":"12345678","queue":"default","jobtype":"t","args":[]}')
    },
  )

  test('an optional field that is not set is left out, whatever was written', () => {
    const unset =
      '"failure":null,"custom":{ },"created_at":null,"enqueued_at":"","at":"","reserve_for":0,"backtrace":null'
    expect(carry(`{"jid":"12345678","jobtype":"t","args":[],${unset},"own":null}`)).toBe(
      '{"jid":"12345678","queue":"default","jobtype":"t","args":[],"own":null}',
    )
  })

  test('withCustom adds texts that are not there yet', () => {
    const texts = { a: 'x"', b: 'y' }
    const shown = (custom: string): string =>
      writeEnvelope(
        withCustom(
          parseJob(Buffer.from(`{"jid":"12345678","jobtype":"t","args":[]${custom}}`)),
          texts,
        ),
      ).slice('{"jid":"12345678","jobtype":"t",'.length)
    expect(shown('')).toBe('"custom":{"a":"x\\"","b":"y"}}')
    expect(shown(',"custom":null')).toBe('"custom":{"a":"x\\"","b":"y"}}')
    expect(shown(',"custom":{ }')).toBe('"custom":{"a":"x\\"","b":"y"}}')
    expect(shown(',"custom":{ "b":1.0}')).toBe('"custom":{"a":"x\\"", "b":1.0}}')
    expect(shown(',"custom":{"a":1,"b":2}')).toBe('"custom":{"a":1,"b":2}}')
  })

  test('overrides replace fields in their place and add those that are missing', () => {
    const argument = '{"jid":"12345678","jobtype":"t","args":[],"retry":1,"x":1,"y":2}'
    const overrides = new Map([
      ['enqueued_at', '"now"'],
      ['failure', '{"retry_count":0}'],
      ['retry', '3'],
      ['x', '[1.0]'],
      ['n"ew', 'null'],
    ])
    expect(carry(argument, overrides)).toBe(
      '{"retry":3,"failure":{"retry_count":0},"jid":"12345678","queue":"default","jobtype":"t",' +
        '"enqueued_at":"now","args":[],"x":[1.0],"y":2,"n\\"ew":null}',
    )
  })

  test('an args field left in an envelope is replaced by the given one', () => {
    expect(renderJob('{"args":[1],"x":2}', NONE, '[3]')).toBe(
      '{"queue":"default","args":[3],"x":2}',
    )
  })

  test('an envelope that is no JSON object is an error', () => {
    expect(() => renderJob('{"a":', NONE, '[]')).toThrow(
      expect.objectContaining({ code: 'INVALID_JSON' }),
    )
  })

  test('push, store, fetch: every field and every digit is still there', () => {
    const digits = fc
      .tuple(fc.bigInt(), fc.nat(), fc.integer({ min: -999, max: 99 }))
      .map(([whole, fraction, exponent]) => `${whole}.${fraction}E${exponent}`)
    const rawValue = fc.oneof(
      digits,
      fc.json(),
      fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text.toWellFormed())),
      fc.constantFrom('[ ]', '{ "a" : 1 }', '"\\u0000\\ud83d\\ude00"', '-0', '1e300'),
    )
    const known = ['jid', 'jobtype', 'args', 'queue', 'priority', 'reserve_for', 'at', 'retry']
    const taken = [...known, 'backtrace', 'created_at', 'enqueued_at', 'failure', 'custom']
    const name = fc
      .string({ unit: 'binary', maxLength: 8 })
      .map((text) => text.toWellFormed())
      .filter((text) => !taken.includes(text))
    const extras = fc.uniqueArray(fc.tuple(name, rawValue), { selector: ([key]) => key })
    const args = fc.array(rawValue).map((values) => `[${values.join(' , ')}]`)
    const optional = fc.subarray([
      '"queue":"q.1_-"',
      '"priority":9',
      '"custom":{"big":12345678901234567890}',
      '"at":"2026-01-02T03:04:05.123456789-07:00"',
      '"retry":0',
    ])
    fc.assert(
      fc.property(extras, args, optional, (others, argsText, options) => {
        const fields = [
          ...others.map(([key, value]) => `${JSON.stringify(key)}:${value}`),
          ...options,
          '"jobtype":"t\\u0041"',
          `"args":${argsText}`,
          '"jid":"12345678"',
        ]
        const argument = `{${fields.join(' ,\t')}}`
        const before = scanObject(argument)
        const after = scanObject(carry(argument))
        if (!before.has('queue')) before.set('queue', '"default"')
        expect(new Map(after)).toEqual(new Map(before))
        const order = [...after.keys()].filter((key) => !taken.includes(key))
        expect(order).toEqual(others.map(([key]) => key))
      }),
    )
  })
})
