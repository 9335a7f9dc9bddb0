import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  defaultMaxJobs,
  FwpError,
  maxJsonDepth,
  parseJob,
  parseJobs,
  writeEnvelope,
} from '../src/index.ts'

const minimal = '"jid":"12345678","jobtype":"mail","args":[]'

function job(more = ''): Buffer {
  return Buffer.from(`{${minimal}${more === '' ? '' : `,${more}`}}`)
}

function messageOf(argument: string | Buffer): string {
  try {
    parseJob(Buffer.from(argument))
  } catch (error) {
    if (error instanceof FwpError) return error.message
    throw error
  }
  return 'no error'
}

describe('parseJob', () => {
  test('a job with the three required fields gets the defaults', () => {
    const parsed = parseJob(job())
    expect(parsed).toEqual({
      jid: '12345678',
      jobtype: 'mail',
      args: '[]',
      queue: 'default',
      priority: 5,
      fields: [
        { key: 'jid', rawKey: '"jid"', value: '"12345678"' },
        { key: 'jobtype', rawKey: '"jobtype"', value: '"mail"' },
      ],
    })
  })

  test('every known field is read', () => {
    const more =
      '"queue":"bulk","priority":9,"reserve_for":600,"at":"2026-01-02T03:04:05.5+01:00",' +
      '"retry":-1,"backtrace":10,"created_at":"2026-01-01T00:00:00Z","custom":{"a" : 1}'
    expect(parseJob(job(more))).toMatchObject({
      queue: 'bulk',
      priority: 9,
      reserveForSeconds: 600,
      at: '2026-01-02T03:04:05.5+01:00',
      atMs: Date.UTC(2026, 0, 2, 2, 4, 5, 500),
      retry: -1,
      backtrace: 10,
      createdAt: '2026-01-01T00:00:00Z',
      custom: '{"a" : 1}',
    })
  })

  test('null in any optional field is the same as no field', () => {
    const names = ['queue', 'priority', 'reserve_for', 'at', 'retry', 'backtrace', 'created_at']
    const more = [...names, 'custom', 'failure', 'enqueued_at'].map((name) => `"${name}":null`)
    const parsed = parseJob(job(more.join(',')))
    expect(parsed).toEqual({ ...parseJob(job()), fields: expect.any(Array) })
    expect(parsed.fields).toHaveLength(2 + more.length)
  })

  test.each(['0', '10', '-3', '5.5', '1e400'])('priority %s counts as none', (priority) => {
    expect(parseJob(job(`"priority":${priority}`)).priority).toBe(5)
  })

  test('an empty queue is default and an empty at is now', () => {
    expect(parseJob(job('"queue":"","at":"","created_at":"","reserve_for":0'))).toEqual({
      ...parseJob(job()),
      fields: expect.any(Array),
    })
  })

  test('a retry of zero is kept', () => {
    expect(parseJob(job('"retry":0')).retry).toBe(0)
    expect(parseJob(job('"retry":-0')).retry).toBe(0)
  })

  test.each([
    ['{}', 'jobs must have a reasonable jid parameter'],
    ['{"jid":"1234567"}', 'jobs must have a reasonable jid parameter'],
    ['{"jid":null}', 'jobs must have a reasonable jid parameter'],
    [`{"jid":"${'x'.repeat(256)}"}`, 'jobs must have a reasonable jid parameter'],
    ['{"jid":"12345678"}', 'jobs must have a jobtype parameter'],
    ['{"jid":"12345678","jobtype":""}', 'jobs must have a jobtype parameter'],
    [`{"jid":"12345678","jobtype":"${'é'.repeat(128)}"}`, 'jobtype must be at most 255 bytes'],
    ['{"jid":"12345678","jobtype":"a"}', 'jobs must have an args parameter'],
    ['{"jid":"12345678","jobtype":"a","args":null}', 'jobs must have an args parameter'],
    [job('"reserve_for":86401'), 'jobs cannot be reserved for more than one day'],
    [job('"at":"x"'), 'invalid timestamp for \'at\': "x": must be RFC 3339 with a time zone'],
    [job('"queue":"a b"'), 'cannot get "a b" queue: queue names must match \\A[a-zA-Z0-9._-]+\\z'],
    [
      job(`"queue":"${'q'.repeat(256)}"`),
      `cannot get "${'q'.repeat(255)}" queue: queue names must be at most 255 bytes`,
    ],
  ])('%s is refused', (argument, message) => {
    expect(messageOf(argument)).toBe(message)
  })

  test('the checks come in a fixed order', () => {
    const faults = [
      ['"jid":"1"', '"jid":"12345678"', 'jid'],
      ['"jobtype":""', '"jobtype":"a"', 'jobtype'],
      ['"args":null', '"args":[]', 'args'],
      ['"reserve_for":90000', '"reserve_for":60', 'reserved'],
      ['"at":"x"', '"at":"2026-01-01T00:00:00Z"', 'timestamp'],
      ['"queue":"a b"', '"queue":"a"', 'queue'],
    ] as const
    for (let mended = 0; mended < faults.length; mended++) {
      const fields = faults.map(([bad, good], index) => (index < mended ? good : bad))
      expect(messageOf(`{${fields.toReversed().join(',')}}`)).toContain(faults[mended]![2])
    }
    expect(messageOf('{"jid":"1","retry":"x"}')).toBe('invalid JSON: retry must be an integer')
  })

  test.each([
    '"jid":1',
    '"jobtype":[]',
    '"args":{}',
    '"args":"x"',
    '"queue":1',
    '"reserve_for":"60"',
    '"reserve_for":1.0',
    '"retry":1e2',
    '"retry":12345678901234567890',
    '"backtrace":true',
    '"at":1767225600',
    '"created_at":{}',
    '"enqueued_at":0',
    '"custom":[]',
    '"failure":"x"',
  ])('a field of the wrong type is invalid JSON: %s', (field) => {
    const name = field.slice(1, field.indexOf('"', 1))
    expect(messageOf(`{${minimal},${field}}`)).toMatch(new RegExp(`^invalid JSON: ${name} must be`))
  })

  test.each(['', ' ', '{', '[]', 'nul', '{"jid":"12345678",}', '{"jid":"1234\n5678"}'])(
    'anything but a JSON object is invalid: %j',
    (text) => {
      expect(messageOf(text)).toMatch(/^invalid JSON: /)
    },
  )

  test('bytes that are no UTF-8 become U+FFFD', () => {
    const bytes = Buffer.concat([job().subarray(0, -1), Buffer.from(',"x":"\xff"}', 'latin1')])
    expect(parseJob(bytes).fields.at(-1)).toMatchObject({ key: 'x', value: '"\ufffd"' })
  })

  test('known names may be written in any case, others keep theirs', () => {
    const text = '{"JID":"12345678","JobType":"a","Args":[1],"Queue":"q","Retry":3,"OwnName":1}'
    const parsed = parseJob(Buffer.from(text))
    expect(parsed).toMatchObject({
      jid: '12345678',
      jobtype: 'a',
      args: '[1]',
      queue: 'q',
      retry: 3,
    })
    expect(writeEnvelope(parsed)).toBe(
      '{"jid":"12345678","jobtype":"a","queue":"q","retry":3,"OwnName":1}',
    )
  })

  test.each(['"5"', '[5]', 'true', '{}', '0', '10', '1.5'])(
    'a priority of %s counts as none, as in servers without priorities',
    (raw) => {
      expect(parseJob(Buffer.from(`{${minimal},"priority":${raw}}`)).priority).toBe(5)
    },
  )

  test('a jid is measured in bytes', () => {
    expect(messageOf(`{"jid":"éééé","jobtype":"a","args":[]}`)).toBe('no error')
    expect(messageOf(`{"jid":"${'é'.repeat(127)}x","jobtype":"a","args":[]}`)).toBe('no error')
    expect(messageOf(`{"jid":"${'é'.repeat(128)}","jobtype":"a","args":[]}`)).toContain('jid')
  })

  test('a name with half a surrogate pair has one form only', () => {
    const parsed = parseJob(Buffer.from('{"jid":"\\ud83d-12345678","jobtype":"a","args":[]}'))
    expect(parsed.jid).toBe('\ufffd-12345678')
    expect(Buffer.from(parsed.jid).toString()).toBe(parsed.jid)
    expect(parsed.fields[0]?.value).toBe('"\ufffd-12345678"')
  })

  test('escapes of half a surrogate pair become U+FFFD everywhere, others stay as written', () => {
    const text =
      '{"jid":"12345678","jobtype":"a\\uDC00","args":["party \\ud83c","\\ud83c\\udf89","\\\\ud83c",' +
      '"\\udf89\\ud83c","\\\\\\ud83c"],"custom":{"\\ud83c":"\\uD83C!"},"own":"\\udfff"}'
    const parsed = parseJob(Buffer.from(text))
    expect(parsed.jobtype).toBe('a\ufffd')
    expect(parsed.args).toBe(
      '["party \ufffd","\\ud83c\\udf89","\\\\ud83c","\ufffd\ufffd","\\\\\ufffd"]',
    )
    expect(parsed.custom).toBe('{"\ufffd":"\ufffd!"}')
    expect(parsed.fields.at(-1)?.value).toBe('"\ufffd"')
    const [each] = parseJobs(Buffer.from(`[${text}]`))
    expect(each).toMatchObject({ state: 'parsed', job: { args: parsed.args } })
  })

  test.each(['1e400', '-1E+309', `1${'0'.repeat(309)}`, '{"deep":[[1e999]]}'])(
    'a number that no double can hold is refused in args and custom: %.20s',
    (value) => {
      const refused = (key: string): string =>
        `invalid JSON: ${key} has a number that is out of range`
      expect(messageOf(`{"jid":"12345678","jobtype":"a","args":[${value}]}`)).toBe(refused('args'))
      expect(messageOf(job(`"custom":{"x":${value}}`))).toBe(refused('custom'))
    },
  )

  test('text that looks like such a number is no number', () => {
    const args = '["1e400",1e-999,1e308,{"1e999":1}]'
    expect(parseJob(Buffer.from(`{"jid":"12345678","jobtype":"a","args":${args}}`)).args).toBe(args)
  })

  test('null is a job, or a list, without anything in it', () => {
    expect(messageOf(' null ')).toBe('jobs must have a reasonable jid parameter')
    expect(parseJobs(Buffer.from('null'))).toEqual([])
    const message = 'jobs must have a reasonable jid parameter'
    expect(parseJobs(Buffer.from('[null]'))).toMatchObject([
      { state: 'rejected', error: { message } },
    ])
  })

  test('an error text repeats little of the input', () => {
    expect(messageOf(job(`"at":"${'x'.repeat(100_000)}"`)).length).toBeLessThan(400)
    expect(messageOf(job(`"queue":"${'é'.repeat(100_000)}"`)).length).toBeLessThan(400)
  })

  test('long numbers in the arguments are carried as written, deep arguments are not read', () => {
    const digits = `${'9'.repeat(300)}.${'9'.repeat(100_000)}`
    const argument = `{"jid":"12345678","jobtype":"a","args":[${digits}, 1.0, 1e300]}`
    expect(parseJob(Buffer.from(argument)).args).toBe(`[${digits}, 1.0, 1e300]`)
    const deep = `{"jid":"12345678","jobtype":"a","args":${'['.repeat(1_000_000)}`
    expect(messageOf(deep)).toBe('invalid JSON: nested too deep')
  })

  test('arguments may nest as deep in a PUSHB as in a PUSH', () => {
    const job = (depth: number): string =>
      `{"jid":"12345678","jobtype":"a","args":${'['.repeat(depth)}${']'.repeat(depth)}}`
    const max = maxJsonDepth - 1
    expect(parseJob(Buffer.from(job(max))).args).toHaveLength(2 * max)
    expect(parseJobs(Buffer.from(`[${job(max)}]`))).toMatchObject([{ state: 'parsed' }])
    expect(messageOf(job(max + 1))).toBe('invalid JSON: nested too deep')
    expect(() => parseJobs(Buffer.from(`[${job(max + 1)}]`))).toThrow('nested too deep')
  })

  test('random bytes give a coded error or a job, nothing else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(), (noise, position) => {
        const valid = job('"queue":"q","at":"2026-01-01T00:00:00Z","custom":{"a":[1,2]}')
        const at = position % valid.length
        const bytes = Buffer.concat([valid.subarray(0, at), noise, valid.subarray(at)])
        for (const input of [bytes, Buffer.from(noise)]) {
          try {
            parseJob(input)
          } catch (error) {
            expect(error).toBeInstanceOf(FwpError)
          }
        }
      }),
    )
  })
})

describe('parseJobs', () => {
  test('each job is taken or refused by itself, in order', () => {
    const argument = `[{${minimal}},{"jid":"aaaaaaaa","args":[]}, 7 ,{"jid":"b"},{${minimal},"retry":"x"}]`
    const results = parseJobs(Buffer.from(argument)).map((parsed) =>
      parsed.state === 'parsed' ? parsed.job.jid : [parsed.jid, parsed.error.message],
    )
    expect(results).toEqual([
      '12345678',
      ['aaaaaaaa', 'jobs must have a jobtype parameter'],
      ['', 'invalid JSON: expected an object at character 0'],
      ['b', 'jobs must have a reasonable jid parameter'],
      ['12345678', 'invalid JSON: retry must be an integer'],
    ])
  })

  test('an empty list is no jobs', () => {
    expect(parseJobs(Buffer.from('[]'))).toEqual([])
  })

  test.each(['', '{}', '[{}', '[{"a":}]', '[{}] x', '[\xff]'])(
    'anything but a JSON array fails as a whole: %j',
    (text) => {
      expect(() => parseJobs(Buffer.from(text, 'latin1'))).toThrow(/^invalid JSON: /)
    },
  )

  test('the number of jobs is bounded', () => {
    const argument = Buffer.from('[{},{},{}]')
    expect(parseJobs(argument, { maxJobs: 3 })).toHaveLength(3)
    expect(() => parseJobs(argument, { maxJobs: 2 })).toThrow(
      'too many jobs in one PUSHB: at most 2',
    )
    expect(defaultMaxJobs).toBe(100_000)
  })

  test('a job with more fields than allowed is refused alone', () => {
    const wide = Array.from({ length: 10_001 }, (_, index) => `"k${index}":0`).join(',')
    const results = parseJobs(Buffer.from(`[{${wide}},{${minimal}}]`))
    expect(results.map(({ state }) => state)).toEqual(['rejected', 'parsed'])
  })
})
