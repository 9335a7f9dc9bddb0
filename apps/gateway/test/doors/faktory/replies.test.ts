import { expect, test } from 'vitest'
import { describeFaktory } from './support/faktory-gateway.ts'
import { pushLine } from './support/fwp-client.ts'
import { figures, nothing } from './support/figures.ts'

const names = String.raw`queue names must match \A[a-zA-Z0-9._-]+\z`
const long = 'n'.repeat(255)
const tooLong = 'n'.repeat(256)

/** A PUSH with these fields beside a jid, a type and args. */
const push = (fields: object): string => pushLine('12345678', fields)
/** A bulk reply. */
const bulk = (body: string): string => `$${Buffer.byteLength(body)}\r\n${body}`

/**
 * Lines to one server, and their replies, besides those that the Faktory server was recorded to answer with the same
 * text (test/differential/faktory.test.ts).
 */
const replies: readonly (readonly [string, string])[] = [
  // Verbs and their form
  ['Push {}', '-ERR unknown command Push'],
  ['{"v":2}', '-ERR unknown command {"v":2}'],
  ['HELLO', '-ERR unknown command HELLO'],

  // ACK and FAIL
  ['ACK {"jid":', '-ERR invalid ACK {"jid":'],
  ['ACK {"jid":"__proto__"}', '+OK'],
  ['FAIL {"jid":', '-ERR invalid FAIL {"jid":'],
  ['FAIL {"jid":null}', '-ERR missing JID'],
  ['FAIL {"jid":"__proto__"}', '-ERR Job not found __proto__'],

  // QUEUE
  ['QUEUE __proto__ a', '-ERR no such QUEUE subcommand: __PROTO__'],
  ['QUEUE remove a b c', '+OK'],
  ['QUEUE LATENCY a __proto__', bulk('{"a":0,"__proto__":0}')],

  // MUTATE
  ['MUTATE []', '-ERR invalid format'],
  ['MUTATE {', '-ERR invalid format'],
  ['MUTATE {"cmd":7}', '-ERR invalid format'],
  ['MUTATE {"cmd":"__proto__","target":"dead"}', '-ERR unknown mutate operation'],
  ['MUTATE {"cmd":"kill","target":"retries","filter":[]}', '-ERR invalid format'],
  ['MUTATE {"cmd":"kill","target":"retries","filter":{"jids":"x"}}', '-ERR invalid format'],
  ['MUTATE {"cmd":"requeue","target":"scheduled","filter":{"jids":["x"]}}', '+OK'],
  ['MUTATE {"cmd":"discard","target":"retries","filter":{"regexp":"*"}}', '+OK'],

  // TRACK and BATCH
  ['TRACK FOO x', '-ERR invalid TRACK FOO x'],
  ['TRACK SET {}', '-ERR invalid TRACK SET {}'],
  ['TRACK get unknown-1', bulk(untracked('unknown-1'))],
  ['TRACK GET __proto__', bulk(untracked('__proto__'))],
  ['TRACK SET {"jid":"unknown-1"}', '-ERR Job not found unknown-1'],
  ...['"percent":101', '"reserve_until":"soon"'].map((field) => {
    const line = `TRACK SET {"jid":"unknown-1",${field}}`
    return [line, `-ERR invalid ${line}`] as const
  }),
  ['BATCH FOO', '-ERR invalid BATCH FOO'],
  ['BATCH COMMIT', '-ERR invalid BATCH COMMIT'],
  ['BATCH NEW {"parent_bid":"gone"}', '-ERR No such batch gone'],
  ['BATCH NEW {"success":{"args":[]}}', '-ERR jobs must have a jobtype parameter'],
  ['BATCH STATUS __proto__', '-ERR No such batch __proto__'],

  // PUSH, with which jobs come
  ['PUSH ', '-ERR invalid JSON: unexpected end of JSON input'],
  ['PUSH {"jid":', '-ERR invalid JSON: unexpected end of JSON input'],
  ['PUSH []', '-ERR invalid JSON: expected an object at character 0'],
  ['PUSH "x"', '-ERR invalid JSON: expected an object at character 0'],
  [push({ args: {} }), '-ERR invalid JSON: args must be an array'],
  [push({ args: 'x' }), '-ERR invalid JSON: args must be an array'],
  [push({ jid: 12345678 }), '-ERR invalid JSON: jid must be a string'],
  [push({ jobtype: 7 }), '-ERR invalid JSON: jobtype must be a string'],
  [push({ jobtype: 'a\0b' }), '-ERR jobtype must not contain control characters'],
  [push({ queue: 7 }), '-ERR invalid JSON: queue must be a string'],
  [push({ retry: '3' }), '-ERR invalid JSON: retry must be an integer'],
  [push({ retry: 1.5 }), '-ERR invalid JSON: retry must be an integer'],
  [push({ custom: [] }), '-ERR invalid JSON: custom must be an object'],
  [push({ at: 'soon', queue: 'a b' }), notRfc3339('soon')],
  [push({ at: '2030-01-02T03:04:05' }), notRfc3339('2030-01-02T03:04:05')],
  [push({ at: '2030-01-02 03:04:05Z' }), notRfc3339('2030-01-02 03:04:05Z')],
  [push({ at: '2030-02-30T03:04:05Z' }), notRfc3339('2030-02-30T03:04:05Z')],
  [push({ at: '2030-01-02T03:04:05.123456789+05:30' }), '+OK'],
  [push({ at: '1970-01-01T00:00:00Z' }), '+OK'],

  // Names of queues, types and jobs
  [push({ queue: 'A.b_c-9' }), '+OK'],
  [push({ queue: '__proto__' }), '+OK'],
  [push({ queue: '.' }), '+OK'],
  [push({ queue: long }), '+OK'],
  [push({ queue: 'a@b' }), `-ERR cannot get "a@b" queue: ${names}`],
  [push({ queue: 'ä' }), `-ERR cannot get "ä" queue: ${names}`],
  [push({ jobtype: '__proto__' }), '+OK'],
  [push({ jobtype: 'constructor' }), '+OK'],
  [push({ jobtype: 'Größe 世界' }), '+OK'],
  [push({ jobtype: long }), '+OK'],
  [push({ jid: '__proto__' }), '+OK'],
  [push({ jid: 'j'.repeat(255) }), '+OK'],
  [push({ retry: -7 }), '+OK'],
  [push({ custom: { unique_for: 'x' } }), `-ERR invalid custom value for 'unique_for': "x"`],
  [push({ custom: { expires_at: 'x' } }), `-ERR invalid custom value for 'expires_at': "x"`],

  // PUSHB
  ['PUSHB {"jid":"12345678"}', '-ERR invalid JSON: expected an array at character 0'],
  ['PUSHB [', '-ERR invalid JSON: unexpected end of JSON input'],
  ['PUSHB [{"jid":"12345678"}]', bulk('{"12345678":"jobs must have a jobtype parameter"}')],
  [
    'PUSHB [{"jid":"__proto__","jobtype":"t"}]',
    bulk('{"__proto__":"jobs must have an args parameter"}'),
  ],
]

function notRfc3339(time: string): string {
  return `-ERR invalid timestamp for 'at': "${time}": must be RFC 3339 with a time zone`
}

function untracked(jid: string): string {
  return JSON.stringify({ jid, state: 'unknown', updated_at: '' })
}

describeFaktory('a line', (gateways) => {
  test('gets the reply of the Faktory server, and the connection lives', async () => {
    const one = await gateways.client()
    const heard = []
    for (const [line] of replies) heard.push([line, await one.ask(line)])
    expect(heard).toEqual(replies)
  })

  test.each([
    ['a queue', { queue: tooLong }],
    ['a jobtype', { jobtype: tooLong }],
    ['a jid', { jid: tooLong }],
  ])('with %s of 256 bytes is refused', async (_name, fields) => {
    expect(await (await gateways.client()).ask(push(fields))).toMatch(/^-ERR /)
  })
})

describeFaktory('odd names', (gateways) => {
  test.each(['__proto__', 'constructor', 'toString', '.', '-', '0', long])(
    'a queue called %s is like any other',
    async (queue) => {
      const one = await gateways.client({ wid: 'worker-1' })
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
      const one = await gateways.client({ wid: 'worker-1' })
      expect(await one.ask(push({ jobtype }))).toBe('+OK')
      expect(await one.askJson('FETCH')).toMatchObject({ jobtype })
      expect(await one.ask('ACK {"jid":"12345678"}')).toBe('+OK')
    },
  )

  test('a jid called __proto__ is like any other', async () => {
    const one = await gateways.client({ wid: 'worker-1' })
    await one.ask(push({ jid: '__proto__' }))
    expect(await one.askJson('FETCH')).toMatchObject({ jobtype: 't' })
    expect(await one.ask('FAIL {"jid":"__proto__"}')).toBe('+OK')
    const requeue = '{"cmd":"requeue","target":"retries","filter":{"jids":["__proto__"]}}'
    expect(await one.ask(`MUTATE ${requeue}`)).toBe('+OK')
    expect(await figures(one)).toMatchObject({ enqueued: 1, retries: 0 })
  })
})

describeFaktory('a job that comes back', (gateways) => {
  test('has its fields in the order of the Faktory server', async () => {
    const one = await gateways.client({ wid: 'worker-1' })
    const fields = { backtrace: 1, reserve_for: 90, at: '2001-01-01T00:00:00Z', custom: { a: 1 } }
    await one.ask(push({ ...fields, retry: 2, queue: 'bulk' }))
    await one.ask('FETCH bulk')
    await one.ask('FAIL {"jid":"12345678","message":"m","errtype":"E","backtrace":["l"]}')
    await one.ask('MUTATE {"cmd":"requeue","target":"retries"}')
    const job = await one.askJson('FETCH bulk')
    expect(Object.keys(job)).toEqual([
      'retry',
      'failure',
      'custom',
      'jid',
      'queue',
      'jobtype',
      'created_at',
      'enqueued_at',
      'at',
      'args',
      'reserve_for',
      'backtrace',
    ])
    expect(job['failure']).toEqual({
      failed_at: expect.any(String),
      next_at: expect.any(String),
      message: 'm',
      errtype: 'E',
      backtrace: ['l'],
      retry_count: 0,
      remaining: 2,
    })
  })
})
