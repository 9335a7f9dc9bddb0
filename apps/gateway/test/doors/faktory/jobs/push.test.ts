import { expect, test } from 'vitest'
import { describeFaktory } from '../support/faktory-gateway.ts'

describeFaktory('PUSH', (gateways) => {
  test('shows the retry of its route', async () => {
    const routes = new Map([['routed', { retries: 7 }]])
    const { client } = await gateways.open({ schedulerOptions: { routes } })
    const one = await client()
    await one.push('12345678', { jobtype: 'routed' })
    expect((await one.askJson('FETCH'))['retry']).toBe(7)
  })

  test('hands out every field that the producer wrote, digit by digit', async () => {
    const one = await gateways.client()
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
    const one = await gateways.client()
    await one.ask(`PUSH {"jid":"12345678","jobtype":"t","args":${args}}`)
    const reply = await one.ask('FETCH')
    const shown = /"args":(.*)\}$/.exec(reply)?.[1]
    expect(JSON.stringify(JSON.parse(shown ?? ''))).toBe(JSON.stringify(JSON.parse(args)))
  })

  test('hands out U+FFFD for half a surrogate pair, which stock workers cannot read', async () => {
    const one = await gateways.client()
    const text = '"party \\ud83c"'
    await one.ask(
      `PUSH {"jid":"12345678","jobtype":"t","args":[${text},{"a":${text}}],"custom":{"c":${text}},"own":${text}}`,
    )
    const reply = await one.ask('FETCH')
    expect(reply).not.toContain('\\u')
    const whole = 'party \ufffd'
    expect(JSON.parse(reply.slice(reply.indexOf('{')))).toMatchObject({
      args: [whole, { a: whole }],
      custom: { c: whole },
      own: whole,
    })
  })

  test('keeps a jobtype apart from the lane of another queue', async () => {
    const one = await gateways.client()
    await one.push('12345678', { jobtype: 'mail@bulk' })
    await one.push('23456789', { jobtype: 'mail', queue: 'bulk' })
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

describeFaktory('PUSHB', (gateways) => {
  test('queues a thousand in their order', async () => {
    const one = await gateways.client()
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
