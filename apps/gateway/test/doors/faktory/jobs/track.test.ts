import { expect, test } from 'vitest'
import { describeFaktory } from '../support/faktory-gateway.ts'

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)

describeFaktory('TRACK', (gateways) => {
  test('GET of a job whose producer does not want tracking says no more', async () => {
    const one = await gateways.client({ wid: 'worker-1' })
    const unknown = { jid: '12345678', state: 'unknown', updated_at: '' }
    await one.push('12345678', { custom: { track: 0 } })
    expect(await one.askJson('TRACK GET 12345678')).toEqual(unknown)
    await one.ask('FETCH')
    expect(await one.ask('TRACK SET {"jid":"12345678","percent":7}')).toBe('+OK')
    expect(await one.askJson('TRACK GET 12345678')).toEqual(unknown)
  })

  test('SET is taken for a queued and for a finished job, at every node', async () => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const [worker, producer] = [await here.client({ wid: 'worker-1' }), await there.client()]
    await producer.push('12345678', { custom: { track: 1 } })
    for (const [percent, state, then] of [
      [1, 'enqueued', 'FETCH'],
      [50, 'working', 'ACK {"jid":"12345678"}'],
      [99, 'success', 'BEAT {"wid":"worker-1"}'],
    ] as const) {
      const set = { jid: '12345678', percent, desc: `at ${percent}` }
      expect(await producer.ask(`TRACK SET ${JSON.stringify(set)}`)).toBe('+OK')
      expect(await worker.askJson('TRACK GET 12345678')).toMatchObject({ ...set, state })
      await worker.ask(then)
    }
    const left = Number(await gateways.redis('TTL', 'job:t:1'))
    expect(left).toBeGreaterThan(1_790)
  })

  test('follows a job to its end, and beyond if its producer asks for it', async () => {
    const { client } = await gateways.open()
    const worker = await client({ wid: 'worker-1' })
    const producer = await client()
    const get = 'TRACK GET 12345678'
    const at = { updated_at: timestamp }
    await producer.push('12345678', { custom: { track: 1 } })
    expect(await producer.askJson(get)).toMatchObject({ state: 'enqueued', percent: 0, ...at })
    await worker.ask('FETCH')
    expect(await producer.askJson(get)).toMatchObject({ state: 'working', percent: 0 })
    const set = { jid: '12345678', percent: 32, desc: 'Calculating values...' }
    expect(await worker.ask(`TRACK SET ${JSON.stringify(set)}`)).toBe('+OK')
    expect(await producer.askJson(get)).toEqual({ ...set, state: 'working', ...at })
    await worker.ask('ACK {"jid":"12345678"}')
    expect(await producer.askJson(get)).toEqual({ ...set, state: 'success', ...at })
  })

  const at = '2999-01-01T00:00:00Z'
  const failed = ['FETCH', 'FAIL {"jid":"12345678"}']
  const requeue = (target: string) => `MUTATE {"cmd":"requeue","target":"${target}"}`
  test.each<readonly [string, object, readonly string[], string]>([
    ['scheduled job', { at }, [], 'scheduled'],
    ['queued job', {}, [], 'enqueued'],
    ['failed job that will be tried again', { retry: 3 }, failed, 'failed'],
    ['failed job that is dead', { retry: -1 }, failed, 'dead'],
    ['failed job that is gone', { retry: 0 }, failed, 'failed'],
    ['job that MUTATE put back from scheduled', { at }, [requeue('scheduled')], 'enqueued'],
    ['job that MUTATE put back from retries', {}, [...failed, requeue('retries')], 'enqueued'],
  ])('GET of a %s', async (_name, fields, lines, state) => {
    const one = await gateways.client()
    await one.push('12345678', { ...fields, custom: { track: 1 } })
    for (const line of lines) await one.ask(line)
    expect(await one.askJson('TRACK GET 12345678')).toMatchObject({ state })
  })

  test('SET extends a lease', async () => {
    const worker = await gateways.client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678')
    const until = new Date(Date.now() + 7_200_000)
    const set = { jid: '12345678', reserve_until: until.toISOString() }
    expect(await worker.ask(`TRACK SET ${JSON.stringify(set)}`)).toBe('+OK')
    expect(await gateways.redis('ZSCORE', 'xg:busy:t', '1')).toContain(String(until.getTime()))
  })

  test.each([
    ['a time before the lease ends', () => new Date(Date.now() + 90_000).toISOString()],
    ['a time that is over', () => '2020-01-01T00:00:00Z'],
  ])('SET with %s leaves it as it is', async (_name, until) => {
    const worker = await gateways.client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678', { reserve_for: 600, custom: { track: 1 } })
    const before = await gateways.redis('ZSCORE', 'xg:busy:t', '1')
    const set = { jid: '12345678', desc: 'more', reserve_until: until() }
    expect(await worker.ask(`TRACK SET ${JSON.stringify(set)}`)).toBe('+OK')
    expect(await gateways.redis('ZSCORE', 'xg:busy:t', '1')).toBe(before)
    expect(await worker.askJson('TRACK GET 12345678')).toMatchObject({ desc: 'more' })
  })

  test('SET extends a lease by a day at most, and cuts a text to its bound', async () => {
    const { client, scheduler } = await gateways.open()
    const worker = await client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678', { custom: { track: 1 } })
    const set = { jid: '12345678', desc: 'd'.repeat(2_000), reserve_until: '2999-01-01T00:00:00Z' }
    const beforeMs = scheduler.storeNowMs()
    expect(await worker.ask(`TRACK SET ${JSON.stringify(set)}`)).toBe('+OK')
    const score = await gateways.redis('ZSCORE', 'xg:busy:t', '1')
    expect(Number(score)).toBeGreaterThanOrEqual(beforeMs + 86_400_000)
    expect(Number(score)).toBeLessThanOrEqual(scheduler.storeNowMs() + 86_400_000)
    expect((await worker.askJson('TRACK GET 12345678'))['desc']).toBe('d'.repeat(1_000))
  })

  test.each([
    ['a text', '"done"'],
    ['an object', '{"b":1.0,"a":12345678901234567890}'],
    ['a list', '[1,"two"]'],
    ['a number', '1.50'],
    ['nothing', 'null'],
  ])('GET of a job that was done with %s has its result, at every node', async (_name, result) => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const worker = await here.client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678', { custom: { track: true } })
    expect(await worker.ask(`ACK {"jid":"12345678","result":${result}}`)).toBe('+OK')
    const reply = await (await there.client()).ask('TRACK GET 12345678')
    const body = reply.slice(reply.indexOf('{')).replace(/"updated_at":"[^"]+"/, '"updated_at":""')
    const shown = result === 'null' ? '' : `,"result":${result}`
    expect(body).toBe(
      `{"jid":"12345678","percent":0,"desc":"","state":"success","updated_at":""${shown}}`,
    )
  })

  test('a tracked job is kept for half an hour after success or failure', async () => {
    const one = await gateways.client({ wid: 'worker-1' })
    for (const [jid, outcome] of [
      ['succeeded', 'ACK'],
      ['failed-00', 'FAIL'],
    ]) {
      await one.pushAndFetch(jid!, { custom: { track: 1 }, retry: 0 })
      await one.ask(`${outcome} {"jid":"${jid}"}`)
    }
    expect(await one.askJson('TRACK GET succeeded')).toMatchObject({ state: 'success' })
    expect(await one.askJson('TRACK GET failed-00')).toMatchObject({ state: 'failed' })
    for (const id of [1, 2]) {
      const left = Number(await gateways.redis('TTL', `job:t:${id}`))
      expect(left).toBeGreaterThan(1_790)
      expect(left).toBeLessThanOrEqual(1_800)
    }
  })

  test('SET reports progress to a client of another door', async () => {
    const { client, scheduler } = await gateways.open()
    const heard: unknown[] = []
    await new Promise<void>((resolve, reject) => {
      scheduler.submit('mail', {
        job: { input: Buffer.from('x'), door: 'gearman', level: 5, foreground: true },
        waiter: { onEvent: (_ref, event) => void heard.push(event) },
        gone: false,
        submitted: () => resolve(),
        refused: reject,
      })
    })
    const worker = await client({ wid: 'worker-1' })
    const { jid } = await worker.askJson('FETCH')
    expect(await worker.ask(`TRACK SET {"jid":"${String(jid)}","percent":40}`)).toBe('+OK')
    expect(heard).toMatchObject([
      { kind: 'status', dividend: Buffer.from('40'), divisor: Buffer.from('100') },
    ])
  })
})
