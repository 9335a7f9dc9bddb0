import { describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { faktoryGateways } from '../support/faktory-gateway.ts'
import { pushLine } from '../support/figures.ts'

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

describe.skipIf(lacksRedis)('PUSH', () => {
  const gateways = faktoryGateways()

  test.each([
    ['no argument', '', 'invalid JSON: unexpected end of JSON input'],
    ['no JSON', '{"jid":', 'invalid JSON: unexpected end of JSON input'],
    ['no object', '[]', 'invalid JSON: expected an object at character 0'],
    ['an empty object', '{}', 'jobs must have a reasonable jid parameter'],
    ['a null jid', '{"jid":null}', 'jobs must have a reasonable jid parameter'],
    ['a jid of seven bytes', '{"jid":"1234567"}', 'jobs must have a reasonable jid parameter'],
    ['a jid that is a number', '{"jid":12345678}', 'invalid JSON: jid must be a string'],
    ['no jobtype', '{"jid":"12345678"}', 'jobs must have a jobtype parameter'],
    ['an empty jobtype', '{"jid":"12345678","jobtype":""}', 'jobs must have a jobtype parameter'],
    ['no args', '{"jid":"12345678","jobtype":"t"}', 'jobs must have an args parameter'],
    [
      'null args',
      '{"jid":"12345678","jobtype":"t","args":null}',
      'jobs must have an args parameter',
    ],
    [
      'a lease of more than a day',
      '{"jid":"12345678","jobtype":"t","args":[],"reserve_for":86401}',
      'jobs cannot be reserved for more than one day',
    ],
    [
      'an odd queue',
      '{"jid":"12345678","jobtype":"t","args":[],"queue":"a b"}',
      'cannot get "a b" queue: queue names must match \\A[a-zA-Z0-9._-]+\\z',
    ],
    [
      'a time without a zone',
      '{"jid":"12345678","jobtype":"t","args":[],"at":"2030-01-02T03:04:05"}',
      `invalid timestamp for 'at': "2030-01-02T03:04:05": must be RFC 3339 with a time zone`,
    ],
    [
      'a jobtype with a control character',
      '{"jid":"12345678","jobtype":"a\\u0000b","args":[]}',
      'jobtype must not contain control characters',
    ],
  ])('refuses %s, and the connection lives', async (_name, argument, text) => {
    const { client } = await gateways.open()
    const one = await client()
    expect(await one.ask(argument === '' ? 'PUSH' : `PUSH ${argument}`)).toBe(`-ERR ${text}`)
    expect(await one.ask('PUSH {"jid":"12345678","jobtype":"t","args":[]}')).toBe('+OK')
  })

  test('hands out a minimal job as it came, with the times that the server sets', async () => {
    const { client } = await gateways.open()
    const one = await client()
    await one.ask('PUSH {"jid":"12345678","jobtype":"t","args":[]}')
    const job = await one.askJson('FETCH default')
    expect(Object.keys(job)).toEqual([
      'retry',
      'jid',
      'queue',
      'jobtype',
      'created_at',
      'enqueued_at',
      'args',
    ])
    expect(job).toMatchObject({ jid: '12345678', queue: 'default', jobtype: 't', args: [] })
    expect(job['created_at']).toMatch(timestamp)
    expect(job['enqueued_at']).toMatch(timestamp)
  })

  test.each([
    ['25 where nobody says', {}, 25],
    ['what its producer says', { retry: 0 }, 0],
    ['25 where its producer says null', { retry: null }, 25],
    ['what its route says', { jobtype: 'routed' }, 7],
  ])('shows as retry %s', async (_name, fields, retry) => {
    const { client } = await gateways.open({
      schedulerOptions: { retries: new Map([['routed', 7]]) },
    })
    const one = await client()
    await one.ask(pushLine('12345678', fields))
    expect((await one.askJson('FETCH'))['retry']).toBe(retry)
  })

  test('hands out every field that the producer wrote, digit by digit', async () => {
    const { client } = await gateways.open()
    const one = await client()
    const pushed =
      '{"backtrace":3,"args":[12345678901234567890,1.0,{"b":1e300,"a":null}],"retry":3,' +
      '"unknown":[1.10, {"z":0}],"jid":"fidelity","jobtype":"t","priority":5,"reserve_for":60,' +
      '"custom":{"n":98765432109876543210},"created_at":"2020-01-02T03:04:05.123456789Z"}'
    await one.ask(`PUSH ${pushed}`)
    const reply = await one.ask('FETCH')
    const body = reply.slice(reply.indexOf('{'))
    expect(body.replace(/"enqueued_at":"[^"]+"/, '"enqueued_at":""')).toBe(
      '{"retry":3,"custom":{"n":98765432109876543210},"jid":"fidelity","queue":"default",' +
        '"jobtype":"t","created_at":"2020-01-02T03:04:05.123456789Z","enqueued_at":"",' +
        '"args":[12345678901234567890,1.0,{"b":1e300,"a":null}],"reserve_for":60,"backtrace":3,' +
        '"unknown":[1.10, {"z":0}],"priority":5}',
    )
  })

  test.each([
    ['one string', '["hello"]'],
    ['one string that looks like JSON', '["[1]"]'],
    ['one object', '[{"b":1,"a":[1.50]}]'],
    ['nothing', '[]'],
    ['one number', '[9007199254740993]'],
    ['two strings', '["a","b"]'],
    ['a text of several scripts', '["héllo \\ud83d\\ude00"]'],
  ])('keeps args of %s', async (_name, args) => {
    const { client } = await gateways.open()
    const one = await client()
    await one.ask(`PUSH {"jid":"12345678","jobtype":"t","args":${args}}`)
    const reply = await one.ask('FETCH')
    const shown = /"args":(.*)\}$/.exec(reply)?.[1]
    expect(JSON.stringify(JSON.parse(shown ?? ''))).toBe(JSON.stringify(JSON.parse(args)))
  })

  test('hands out U+FFFD for half a surrogate pair, which stock workers cannot read', async () => {
    const { client } = await gateways.open()
    const one = await client()
    const text = '"party \\ud83c"'
    await one.ask(
      `PUSH {"jid":"12345678","jobtype":"t","args":[${text},{"a":${text}}],"custom":{"c":${text}},"own":${text}}`,
    )
    const reply = await one.ask('FETCH')
    expect(reply).not.toContain('\\u')
    const whole = 'party \ufffd'
    expect(JSON.parse(reply.slice(reply.indexOf('{')))).toMatchObject({
      ...{ args: [whole, { a: whole }], custom: { c: whole }, own: whole },
    })
  })

  test('accepts the same jid twice', async () => {
    const { client } = await gateways.open()
    const one = await client()
    const line = 'PUSH {"jid":"12345678","jobtype":"t","args":[]}'
    expect(await one.ask(line)).toBe('+OK')
    expect(await one.ask(line)).toBe('+OK')
    expect((await one.askJson('INFO'))['faktory']).toMatchObject({ queues: { default: 2 } })
    for (let times = 0; times < 2; times += 1) await one.askJson('FETCH')
    for (let times = 0; times < 2; times += 1) await one.ask('ACK {"jid":"12345678"}')
    expect((await one.askJson('INFO'))['faktory']).toMatchObject({ total_processed: 2 })
  })

  test('runs a job with a past time now, and schedules one with a future time', async () => {
    const { client } = await gateways.open()
    const one = await client()
    await one.ask('PUSH {"jid":"of-the-past","jobtype":"t","args":[],"at":"2001-01-01T00:00:00Z"}')
    const at = '2999-01-02T03:04:05.123456789+02:00'
    await one.ask(`PUSH {"jid":"to-come-0","jobtype":"t","args":[],"at":"${at}"}`)
    expect((await one.askJson('INFO'))['faktory']).toMatchObject({
      queues: { default: 1 },
      sets: { scheduled: 1, retries: 0 },
    })
    expect((await one.askJson('FETCH'))['jid']).toBe('of-the-past')
  })

  test('keeps a jobtype apart from the lane of another queue', async () => {
    const { client } = await gateways.open()
    const one = await client()
    await one.ask('PUSH {"jid":"12345678","jobtype":"mail@bulk","args":[]}')
    await one.ask('PUSH {"jid":"23456789","jobtype":"mail","queue":"bulk","args":[]}')
    expect(await one.askJson('FETCH default')).toMatchObject({
      jid: '12345678',
      jobtype: 'mail@bulk',
      queue: 'default',
    })
    expect(await one.askJson('FETCH bulk')).toMatchObject({ jid: '23456789', jobtype: 'mail' })
  })

  test('answers at once that the store is away, and takes jobs again when it is back', async () => {
    const { client, scheduler } = await gateways.open({ troubled: true })
    const one = await client()
    const line = 'PUSH {"jid":"12345678","jobtype":"t","args":[]}'
    expect(await one.ask(line)).toBe('+OK')
    await gateways.redis('CONFIG', 'SET', 'maxmemory', '1')
    expect(await one.ask(line)).toMatch(/^-ERR the job store refused: OOM/)
    await gateways.redis('CONFIG', 'SET', 'maxmemory', '0')
    expect(await one.ask(line)).toBe('+OK')
    expect(scheduler.registry.size).toBe(1)
  })
})

describe.skipIf(lacksRedis)('PUSHB', () => {
  const gateways = faktoryGateways()

  test.each([
    ['an empty list', '[]', '{}'],
    ['all good', '[{"jid":"12345678","jobtype":"t","args":[]}]', '{}'],
    [
      'one without a jobtype',
      '[{"jid":"12345678","jobtype":"t","args":[]},{"jid":"23456789","args":[]}]',
      '{"23456789":"jobs must have a jobtype parameter"}',
    ],
    ['one without a jid', '[{}]', '{"":"jobs must have a reasonable jid parameter"}'],
  ])('answers %s with a map of errors', async (_name, list, map) => {
    const { client } = await gateways.open()
    const one = await client()
    expect(await one.ask(`PUSHB ${list}`)).toBe(`$${map.length}\r\n${map}`)
  })

  test('refuses anything but a list', async () => {
    const { client } = await gateways.open()
    const one = await client()
    expect(await one.ask('PUSHB {}')).toBe('-ERR invalid JSON: expected an array at character 0')
  })

  test('queues a thousand in their order', async () => {
    const { client } = await gateways.open()
    const one = await client()
    const jobs = Array.from({ length: 1000 }, (_none, at) => ({
      jid: `jid-${String(at).padStart(6, '0')}`,
      jobtype: 't',
      args: [at],
    }))
    expect(await one.ask(`PUSHB ${JSON.stringify(jobs)}`)).toBe('$2\r\n{}')
    for (const { jid } of jobs.slice(0, 10)) {
      expect((await one.askJson('FETCH'))['jid']).toBe(jid)
    }
  })
})
