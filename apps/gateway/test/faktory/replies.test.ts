import { describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { faktoryGateways } from './support/faktory-gateway.ts'
import { figures, nothing, pushLine } from './support/figures.ts'

const names = String.raw`queue names must match \A[a-zA-Z0-9._-]+\z`
const long = 'n'.repeat(255)
const tooLong = 'n'.repeat(256)

/** A PUSH with these fields beside a jid, a type and args. */
const push = (fields: object): string => pushLine('12345678', fields)
/** A bulk reply. */
const bulk = (body: string): string => `$${Buffer.byteLength(body)}\r\n${body}`

/** One line to a fresh server, and its reply. */
const replies: readonly (readonly [string, string])[] = [
  // Verbs and their form
  ['NOOP', '-ERR unknown command NOOP'],
  ['info', '-ERR unknown command info'],
  ['Push {}', '-ERR unknown command Push'],
  [' INFO', '-ERR unknown command '],
  ['{"v":2}', '-ERR unknown command {"v":2}'],
  ['HELLO', '-ERR unknown command HELLO'],
  ['END', '+OK'],
  ['END now', '+OK'],
  ['FLUSH', '+OK'],
  ['FLUSH all', '+OK'],

  // PUSH: the checks in their order
  ['PUSH', '-ERR invalid JSON: unexpected end of JSON input'],
  ['PUSH ', '-ERR invalid JSON: unexpected end of JSON input'],
  ['PUSH null', '-ERR jobs must have a reasonable jid parameter'],
  ['PUSH "x"', '-ERR invalid JSON: expected an object at character 0'],
  ['PUSH {"jobtype":"t","args":[]}', '-ERR jobs must have a reasonable jid parameter'],
  ['PUSH {"jid":"","jobtype":"t","args":[]}', '-ERR jobs must have a reasonable jid parameter'],
  ['PUSH {"jid":"1234567","args":[]}', '-ERR jobs must have a reasonable jid parameter'],
  ['PUSH {"jid":"12345678","args":[]}', '-ERR jobs must have a jobtype parameter'],
  ['PUSH {"jid":"12345678","jobtype":null}', '-ERR jobs must have a jobtype parameter'],
  [push({ args: null, reserve_for: 86_401 }), '-ERR jobs must have an args parameter'],
  [push({ args: undefined }), '-ERR jobs must have an args parameter'],
  [push({ args: {} }), '-ERR invalid JSON: args must be an array'],
  [push({ args: 'x' }), '-ERR invalid JSON: args must be an array'],
  [push({ jobtype: 7 }), '-ERR invalid JSON: jobtype must be a string'],
  [push({ queue: 7 }), '-ERR invalid JSON: queue must be a string'],
  [push({ retry: '3' }), '-ERR invalid JSON: retry must be an integer'],
  [push({ retry: 1.5 }), '-ERR invalid JSON: retry must be an integer'],
  [push({ custom: [] }), '-ERR invalid JSON: custom must be an object'],
  [push({ reserve_for: 86_400 }), '+OK'],
  [push({ reserve_for: 86_401, at: 'x' }), '-ERR jobs cannot be reserved for more than one day'],
  [push({ reserve_for: 0 }), '+OK'],
  [push({ reserve_for: -1 }), '+OK'],
  [
    push({ at: 'soon', queue: 'a b' }),
    `-ERR invalid timestamp for 'at': "soon": must be RFC 3339 with a time zone`,
  ],
  [
    push({ at: '2030-01-02 03:04:05Z' }),
    `-ERR invalid timestamp for 'at': "2030-01-02 03:04:05Z": must be RFC 3339 with a time zone`,
  ],
  [
    push({ at: '2030-02-30T03:04:05Z' }),
    `-ERR invalid timestamp for 'at': "2030-02-30T03:04:05Z": must be RFC 3339 with a time zone`,
  ],
  [push({ at: '2030-01-02T03:04:05Z' }), '+OK'],
  [push({ at: '2030-01-02T03:04:05.123456789+05:30' }), '+OK'],
  [push({ at: '1970-01-01T00:00:00Z' }), '+OK'],
  [push({ at: '' }), '+OK'],
  [push({ at: null }), '+OK'],

  // Names of queues, types and jobs
  [push({ queue: '' }), '+OK'],
  [push({ queue: null }), '+OK'],
  [push({ queue: 'A.b_c-9' }), '+OK'],
  [push({ queue: '__proto__' }), '+OK'],
  [push({ queue: '.' }), '+OK'],
  [push({ queue: long }), '+OK'],
  [push({ queue: ' ' }), `-ERR cannot get " " queue: ${names}`],
  [push({ queue: '*' }), `-ERR cannot get "*" queue: ${names}`],
  [push({ queue: 'a@b' }), `-ERR cannot get "a@b" queue: ${names}`],
  [push({ queue: 'a:b' }), `-ERR cannot get "a:b" queue: ${names}`],
  [push({ queue: 'ä' }), `-ERR cannot get "ä" queue: ${names}`],
  [push({ queue: 'a\nb' }), String.raw`-ERR cannot get "a\nb" queue: ` + names],
  [push({ jobtype: '__proto__' }), '+OK'],
  [push({ jobtype: 'constructor' }), '+OK'],
  [push({ jobtype: 'Größe 世界' }), '+OK'],
  [push({ jobtype: long }), '+OK'],
  [push({ jid: '__proto__' }), '+OK'],
  [push({ jid: 'j'.repeat(255) }), '+OK'],
  [push({ retry: -7 }), '+OK'],
  [push({ retry: null }), '+OK'],
  [push({ priority: 9 }), '+OK'],
  [push({ custom: null }), '+OK'],
  [push({ custom: { unique_for: 'x' } }), `-ERR invalid custom value for 'unique_for': "x"`],

  // PUSHB
  ['PUSHB', '-ERR invalid JSON: unexpected end of JSON input'],
  ['PUSHB {"jid":"12345678"}', '-ERR invalid JSON: expected an array at character 0'],
  ['PUSHB [', '-ERR invalid JSON: unexpected end of JSON input'],
  ['PUSHB []', bulk('{}')],
  ['PUSHB [{"jid":"12345678"}]', bulk('{"12345678":"jobs must have a jobtype parameter"}')],
  [
    'PUSHB [{"jid":"__proto__","jobtype":"t"}]',
    bulk('{"__proto__":"jobs must have an args parameter"}'),
  ],

  // ACK and FAIL
  ['ACK', '-ERR invalid ACK '],
  ['ACK {"jid":7}', '-ERR invalid ACK {"jid":7}'],
  ['ACK {"jid":"unknown-1"}', '+OK'],
  ['ACK {"jid":"__proto__"}', '+OK'],
  ['FAIL', '-ERR invalid FAIL '],
  ['FAIL {}', '-ERR missing JID'],
  ['FAIL {"jid":null}', '-ERR missing JID'],
  ['FAIL {"jid":"__proto__"}', '-ERR Job not found __proto__'],

  // BEAT of a client that is no worker
  ['BEAT', '-ERR invalid BEAT '],
  ['BEAT {"wid":""}', '-ERR unknown worker '],
  ['BEAT {"wid":"w"}', '-ERR unknown worker w'],

  // QUEUE
  ['QUEUE', '-ERR no such QUEUE subcommand: '],
  ['QUEUE LIST', '-ERR no such QUEUE subcommand: LIST'],
  ['QUEUE __proto__ a', '-ERR no such QUEUE subcommand: __PROTO__'],
  ['QUEUE pause a b', '+OK'],
  ['QUEUE Pause *', '+OK'],
  ['QUEUE RESUME *', '+OK'],
  ['QUEUE resume a', '+OK'],
  ['QUEUE REMOVE *', '+OK'],
  ['QUEUE remove a b c', '+OK'],
  ['QUEUE LATENCY a __proto__', bulk('{"a":0,"__proto__":0}')],
  ['QUEUE latency a', bulk('{"a":0}')],
  ['QUEUE LATENCY *', '-ERR QUEUE LATENCY does not support wildcards'],

  // MUTATE
  ['MUTATE', '-ERR invalid format'],
  ['MUTATE {', '-ERR invalid format'],
  ['MUTATE {"cmd":7}', '-ERR invalid format'],
  ['MUTATE {"cmd":"clear"}', '-ERR invalid target for mutation command'],
  ['MUTATE {"cmd":"clear","target":"queue"}', '-ERR invalid target for mutation command'],
  ['MUTATE {"cmd":"__proto__","target":"dead"}', '-ERR unknown mutate operation'],
  ['MUTATE {"cmd":"kill","target":"retries","filter":[]}', '-ERR invalid format'],
  ['MUTATE {"cmd":"kill","target":"retries","filter":{"jids":"x"}}', '-ERR invalid format'],
  ['MUTATE {"cmd":"clear","target":"dead"}', '+OK'],
  ['MUTATE {"cmd":"requeue","target":"scheduled","filter":{"jids":["x"]}}', '+OK'],
  ['MUTATE {"cmd":"discard","target":"retries","filter":{"regexp":"*"}}', '+OK'],
  ['MUTATE {"cmd":"kill","target":"dead","filter":{}}', '+OK'],
  ['MUTATE {"cmd":"kill","target":"dead","filter":null}', '+OK'],

  // TRACK and BATCH
  ['TRACK get unknown-1', bulk(untracked('unknown-1'))],
  ['TRACK GET __proto__', bulk(untracked('__proto__'))],
  ['TRACK SET {"jid":"unknown-1"}', '-ERR Job not found unknown-1'],
  [
    'TRACK SET {"jid":"unknown-1","percent":101}',
    '-ERR invalid TRACK SET {"jid":"unknown-1","percent":101}',
  ],
  [
    'TRACK SET {"jid":"unknown-1","reserve_until":"soon"}',
    '-ERR invalid TRACK SET {"jid":"unknown-1","reserve_until":"soon"}',
  ],
  ['BATCH FOO', '-ERR invalid BATCH FOO'],
  ['BATCH COMMIT', '-ERR invalid BATCH COMMIT'],
  ['BATCH STATUS __proto__', '-ERR No such batch __proto__'],
]

function untracked(jid: string): string {
  return JSON.stringify({ jid, state: 'unknown', updated_at: '' })
}

describe.skipIf(lacksRedis)('a line', () => {
  const gateways = faktoryGateways()

  test.each(replies)('%j is answered %j', async (line, reply) => {
    const { client } = await gateways.open()
    const one = await client()
    one.sendRaw(`${line}\r\n`)
    expect(await one.reply()).toBe(reply)
    if (line.startsWith('END')) return
    expect(await one.ask('PUSHB []')).toBe(bulk('{}'))
  })

  test.each([
    ['a queue', { queue: tooLong }],
    ['a jobtype', { jobtype: tooLong }],
    ['a jid', { jid: tooLong }],
  ])('with %s of 256 bytes is refused', async (_name, fields) => {
    const { client } = await gateways.open()
    expect(await (await client()).ask(push(fields))).toMatch(/^-ERR /)
  })
})

describe.skipIf(lacksRedis)('odd names', () => {
  const gateways = faktoryGateways()

  test.each(['__proto__', 'constructor', 'toString', '.', '-', '0', long])(
    'a queue called %s is like any other',
    async (queue) => {
      const { client } = await gateways.open()
      const one = await client({ wid: 'worker-1' })
      await one.ask(push({ queue }))
      const info = JSON.stringify((await one.askJson('INFO'))['faktory'])
      expect(info).toContain(`"queues":{"${queue}":1}`)
      expect(await one.ask(`QUEUE PAUSE ${queue}`)).toBe('+OK')
      expect(await one.ask(`QUEUE RESUME ${queue}`)).toBe('+OK')
      expect(await one.ask(`FETCH ${queue}`)).toContain(`"queue":"${queue}"`)
      expect(await one.ask('ACK {"jid":"12345678"}')).toBe('+OK')
      await one.ask(push({ queue }))
      expect(await one.ask(`QUEUE REMOVE ${queue}`)).toBe('+OK')
      expect(await figures(one)).toEqual({ ...nothing, processed: 1 })
    },
  )

  test.each(['__proto__', 'constructor', 'a@b', 'a:b', '{a}', 'Größe 世界', '*', '"', long])(
    'a jobtype called %s is like any other',
    async (jobtype) => {
      const { client } = await gateways.open()
      const one = await client({ wid: 'worker-1' })
      expect(await one.ask(push({ jobtype }))).toBe('+OK')
      expect(await one.askJson('FETCH')).toMatchObject({ jobtype })
      expect(await one.ask('ACK {"jid":"12345678"}')).toBe('+OK')
    },
  )

  test('a jid called __proto__ is like any other', async () => {
    const { client } = await gateways.open()
    const one = await client({ wid: 'worker-1' })
    await one.ask(push({ jid: '__proto__' }))
    expect(await one.askJson('FETCH')).toMatchObject({ jobtype: 't' })
    expect(await one.ask('FAIL {"jid":"__proto__"}')).toBe('+OK')
    const requeue = '{"cmd":"requeue","target":"retries","filter":{"jids":["__proto__"]}}'
    expect(await one.ask(`MUTATE ${requeue}`)).toBe('+OK')
    expect(await figures(one)).toMatchObject({ enqueued: 1, retries: 0 })
  })
})

describe.skipIf(lacksRedis)('a job that comes back', () => {
  const gateways = faktoryGateways()

  test('has its fields in the order of the Faktory server', async () => {
    const { client } = await gateways.open()
    const one = await client({ wid: 'worker-1' })
    const fields = { backtrace: 1, reserve_for: 90, at: '2001-01-01T00:00:00Z', custom: { a: 1 } }
    await one.ask(push({ ...fields, retry: 2, queue: 'bulk' }))
    await one.ask('FETCH bulk')
    await one.ask('FAIL {"jid":"12345678","message":"m","errtype":"E","backtrace":["l"]}')
    await one.ask('MUTATE {"cmd":"requeue","target":"retries"}')
    const job = await one.askJson('FETCH bulk')
    expect(Object.keys(job)).toEqual([
      ...['retry', 'failure', 'custom', 'jid', 'queue', 'jobtype', 'created_at', 'enqueued_at'],
      ...['at', 'args', 'reserve_for', 'backtrace'],
    ])
    expect(job['failure']).toEqual({
      ...{ failed_at: expect.any(String), next_at: expect.any(String), message: 'm' },
      ...{ errtype: 'E', backtrace: ['l'], retry_count: 0, remaining: 2 },
    })
  })
})
