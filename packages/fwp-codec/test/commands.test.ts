import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  FwpError,
  parseAck,
  parseBeat,
  parseFail,
  parseFetch,
  parseMutate,
  parseQueueCommand,
  parseTrack,
} from '../src/index.ts'

function failure(parse: (argument: Buffer) => unknown, text: string): [string, string] {
  try {
    parse(Buffer.from(text))
  } catch (error) {
    if (error instanceof FwpError) return [error.code, error.message]
    throw error
  }
  return ['none', 'no error']
}

describe('ACK', () => {
  test('names a jid and may carry a result, as written', () => {
    expect(parseAck(Buffer.from('{"jid":"a"}'))).toEqual({ jid: 'a' })
    expect(parseAck(Buffer.from('{"jid":"a","result":{ "n":1.0 },"x":[]}'))).toEqual({
      jid: 'a',
      result: '{ "n":1.0 }',
    })
    expect(parseAck(Buffer.from('{"jid":"a","result":null}'))).toEqual({ jid: 'a' })
  })

  test.each(['', '{}', 'null', '{"jid":1}', '{"jid":"a"', 'abc', '[]'])(
    'without a jid or with bad JSON is invalid: %j',
    (text) => {
      expect(failure(parseAck, text)).toEqual(['INVALID_ACK', `invalid ACK ${text}`])
    },
  )

  test('a jid of null is the empty one', () => {
    expect(parseAck(Buffer.from('{"jid":null}'))).toEqual({ jid: '' })
  })

  test('an error text repeats 1024 bytes at most', () => {
    expect(failure(parseAck, 'x'.repeat(100_000))[1]).toBe(`invalid ACK ${'x'.repeat(1024)}`)
    expect(Buffer.byteLength(failure(parseAck, 'é€'.repeat(50_000))[1])).toBeLessThan(1040)
  })
})

describe('FAIL', () => {
  test('takes names in any case, and bytes that are not UTF-8', () => {
    const line = Buffer.from('{"Jid":"12345678","ErrType":"E","Message":"caf\xe9"}', 'latin1')
    expect(parseFail(line)).toMatchObject({
      jid: '12345678',
      errtype: 'E',
      message: 'caf\ufffd',
    })
  })

  test('is cut to what is kept', () => {
    const fail = parseFail(
      Buffer.from(
        JSON.stringify({
          jid: 'a',
          errtype: ` ${'E'.repeat(101)} `,
          message: 'é'.repeat(501),
          backtrace: Array.from({ length: 51 }, (_, index) => `line ${index}`),
        }),
      ),
    )
    expect(fail.errtype).toBe('E'.repeat(100))
    expect(fail.message).toBe('é'.repeat(500))
    expect(fail.backtrace).toHaveLength(50)
    expect(fail.backtrace[49]).toBe('line 49')
  })

  test('a cut never leaves half a character', () => {
    for (const [text, kept] of [
      [`${'x'.repeat(99)}é`, 'x'.repeat(99)],
      [`${'x'.repeat(97)}😀`, 'x'.repeat(97)],
      [`${'x'.repeat(96)}😀y`, `${'x'.repeat(96)}😀`],
    ] as const) {
      expect(parseFail(Buffer.from(JSON.stringify({ jid: 'a', errtype: text }))).errtype).toBe(kept)
    }
  })

  test.each(['{"jid":"a"}', '{"jid":"a","errtype":" ","message":"\\n\\t","backtrace":null}'])(
    'blanks become unknown: %s',
    (text) => {
      expect(parseFail(Buffer.from(text))).toEqual({
        jid: 'a',
        errtype: 'unknown',
        message: 'unknown',
        backtrace: [],
      })
    },
  )

  test.each(['{}', '{"jid":""}', '{"jid":null,"message":"x"}'])('without a jid: %s', (text) => {
    expect(failure(parseFail, text)).toEqual(['MISSING_JID', 'missing JID'])
  })

  test.each(['', 'x', '{"jid":1}', '{"jid":"a","message":1}', '{"jid":"a","backtrace":"x"}'])(
    'bad JSON or a wrong type is invalid: %j',
    (text) => {
      expect(failure(parseFail, text)).toEqual(['INVALID_FAIL', `invalid FAIL ${text}`])
    },
  )
})

describe('BEAT', () => {
  test('describes the worker', () => {
    expect(parseBeat(Buffer.from('{"wid":"w"}'))).toEqual({ wid: 'w' })
    expect(parseBeat(Buffer.from('{"wid":"w","rss_kb":54176,"current_state":"quiet"}'))).toEqual({
      wid: 'w',
      rssKb: 54_176,
      currentState: 'quiet',
    })
    expect(parseBeat(Buffer.from('{"wid":"w","current_state":""}'))).toEqual({ wid: 'w' })
  })

  test.each(['{}', 'null', '{"wid":""}', '{"wid":null}'])('%s names the empty wid', (text) => {
    expect(parseBeat(Buffer.from(text))).toEqual({ wid: '' })
  })

  test.each(['', '{"wid":1}', '{"wid":"w","rss_kb":"1"}', 'w'])(
    'anything else is invalid: %j',
    (text) => {
      expect(failure(parseBeat, text)).toEqual(['INVALID_BEAT', `invalid BEAT ${text}`])
    },
  )
})

describe('FETCH', () => {
  test('names queues in order, each once, with default if none is named', () => {
    expect(parseFetch(Buffer.from('b a b  c '))).toEqual(['b', 'a', 'c'])
    expect(parseFetch(Buffer.alloc(0))).toEqual(['default'])
    expect(parseFetch(Buffer.from('  '))).toEqual(['default'])
  })

  test('the number of names is bounded', () => {
    expect(parseFetch(Buffer.from('q '.repeat(1000)))).toEqual(['q'])
    expect(failure(parseFetch, 'q '.repeat(1001))).toEqual([
      'TOO_MANY_QUEUES',
      'too many queues: at most 1000',
    ])
  })
})

describe('QUEUE', () => {
  test.each(['PAUSE', 'RESUME', 'REMOVE'])('%s takes names or all queues', (subcommand) => {
    expect(parseQueueCommand(Buffer.from(`${subcommand} a b`))).toEqual({
      subcommand,
      names: ['a', 'b'],
    })
    expect(parseQueueCommand(Buffer.from(`${subcommand.toLowerCase()} *`))).toEqual({
      subcommand,
      names: '*',
    })
    expect(failure(parseQueueCommand, subcommand)).toEqual([
      'MISSING_QUEUE',
      `QUEUE ${subcommand} needs at least one queue`,
    ])
  })

  test('LATENCY takes names only', () => {
    expect(parseQueueCommand(Buffer.from('latency a b'))).toEqual({
      subcommand: 'LATENCY',
      names: ['a', 'b'],
    })
    expect(failure(parseQueueCommand, 'LATENCY *')).toEqual([
      'NO_WILDCARD',
      'QUEUE LATENCY does not support wildcards',
    ])
  })

  test.each(['FOO', 'FOO a', ''])('another sub-command is refused: %j', (text) => {
    expect(failure(parseQueueCommand, text)).toEqual([
      'UNKNOWN_QUEUE_COMMAND',
      `no such QUEUE subcommand: ${text.slice(0, 3)}`,
    ])
  })
})

describe('MUTATE', () => {
  test.each([
    ['{"cmd":"clear","target":"dead"}', 'clear', 'dead', { kind: 'all' }],
    ['{"cmd":"clear","target":"dead","filter":{"jobtype":"x"}}', 'clear', 'dead', { kind: 'all' }],
    ['{ "cmd" : "kill", "target" : "retries" }', 'kill', 'retries', { kind: 'all' }],
    [
      '{"cmd":"discard","target":"scheduled","filter":null}',
      'discard',
      'scheduled',
      { kind: 'all' },
    ],
    ['{"cmd":"discard","target":"dead","filter":{}}', 'discard', 'dead', { kind: 'all' }],
    [
      '{"cmd":"requeue","target":"dead","filter":{"jids":["a","b"],"jobtype":"x"}}',
      'requeue',
      'dead',
      { kind: 'jids', jids: ['a', 'b'] },
    ],
    [
      '{"cmd":"kill","target":"dead","filter":{"jids":[],"regexp":"*x*","jobtype":"y"}}',
      'kill',
      'dead',
      { kind: 'match', glob: '*x*', jobtype: 'y' },
    ],
  ])('%s', (text, operation, target, filter) => {
    expect(parseMutate(Buffer.from(text))).toEqual({ operation, target, filter })
  })

  test.each([
    ['', 'INVALID_MUTATE', 'invalid format'],
    ['{"cmd":1}', 'INVALID_MUTATE', 'invalid format'],
    ['{"cmd":"kill","filter":[]}', 'INVALID_MUTATE', 'invalid format'],
    ['{"cmd":"kill","filter":{"jids":"a"}}', 'INVALID_MUTATE', 'invalid format'],
    ['{"cmd":"explode","target":"dead"}', 'UNKNOWN_MUTATE_OPERATION', 'unknown mutate operation'],
    ['{}', 'UNKNOWN_MUTATE_OPERATION', 'unknown mutate operation'],
    [
      '{"cmd":"kill","target":"queues"}',
      'UNKNOWN_MUTATE_TARGET',
      'invalid target for mutation command',
    ],
  ])('refuses %j', (text, code, message) => {
    expect(failure(parseMutate, text)).toEqual([code, message])
  })
})

describe('TRACK', () => {
  test('GET names a jid', () => {
    expect(parseTrack(Buffer.from('GET abc'))).toEqual({ subcommand: 'GET', jid: 'abc' })
    expect(parseTrack(Buffer.from('get abc'))).toEqual({ subcommand: 'GET', jid: 'abc' })
  })

  test('SET carries progress and a longer lease', () => {
    expect(parseTrack(Buffer.from('SET {"jid":"a"}'))).toEqual({ subcommand: 'SET', jid: 'a' })
    const text = '{"jid":"a","percent":50,"desc":"half","reserve_until":"2026-01-02T03:04:05Z"}'
    expect(parseTrack(Buffer.from(`SET ${text}`))).toEqual({
      subcommand: 'SET',
      jid: 'a',
      percent: 50,
      desc: 'half',
      reserveUntilMs: Date.UTC(2026, 0, 2, 3, 4, 5),
    })
  })

  test.each([
    '',
    'GET',
    'GET ',
    'GET a b',
    'PUT a',
    'SET',
    'SET {}',
    'SET x',
    'SET {"jid":1}',
    'SET {"jid":"a","percent":101}',
    'SET {"jid":"a","percent":-1}',
    'SET {"jid":"a","percent":1.5}',
    'SET {"jid":"a","reserve_until":"soon"}',
  ])('anything else is invalid: %j', (text) => {
    expect(failure(parseTrack, text)).toEqual(['INVALID_TRACK', `invalid TRACK ${text}`])
  })
})

test('random bytes give every parser a coded error or a result, nothing else', () => {
  const parsers = [parseAck, parseBeat, parseFail, parseFetch, parseMutate]
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (noise) => {
      for (const parse of [...parsers, parseQueueCommand, parseTrack]) {
        for (const prefix of ['', '{"jid":"', 'SET {"jid":"a","desc":']) {
          try {
            parse(Buffer.concat([Buffer.from(prefix), noise]))
          } catch (error) {
            expect(error).toBeInstanceOf(FwpError)
          }
        }
      }
    }),
  )
})
