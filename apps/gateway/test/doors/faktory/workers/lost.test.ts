import { expect, test } from 'vitest'
import { describeFaktory } from '../support/faktory-gateway.ts'
import { figures, infoOf, nothing } from '../support/figures.ts'

const halfYearMs = 180 * 24 * 3600 * 1000
/** The store's clock as of the last heartbeat is off by the way to the store: a busy machine takes its time. */
const slackMs = 30_000

describeFaktory('the job of a Faktory producer whose worker leaves without a word', (gateways) => {
  /** A worker that had closed its connections when the minute began. */
  async function leaves(givesBack: boolean) {
    const gateway = await gateways.open({ givesBack })
    const worker = await gateway.client({ wid: 'leaves' })
    await worker.pushAndFetch('12345678')
    worker.close()
    await expect.poll(() => gateway.door.connections).toBe(0)
    return gateway
  }

  test('goes to another worker after a minute', async () => {
    const { clock, client } = await leaves(true)
    clock.advance(59_000)
    const next = await client({ wid: 'next' })
    expect(await figures(next)).toMatchObject({ working: 1 })
    clock.advance(16_000)
    await expect.poll(() => next.ask('FETCH')).toContain('"jid":"12345678"')
    expect(await next.ask('ACK {"jid":"12345678"}')).toBe('+OK')
  })

  test('stays leased where the option says so', async () => {
    const { clock, client } = await leaves(false)
    clock.advance(600_000)
    expect(await figures(await client())).toMatchObject({ working: 1, failures: 0 })
  })
})

describeFaktory('a lease that runs out', (gateways) => {
  /** As if the worker had had the job for as long as it may. Leases are looked at each second. */
  async function runOut(id: number): Promise<void> {
    expect(await gateways.redis('ZADD', 'xg:busy:t', 'XX', 'CH', '0', String(id))).toBe('1')
  }

  async function makeDue(id: number): Promise<void> {
    await gateways.redis('ZADD', 'queue:t:scheduled', '0', String(id))
    await gateways.redis('ZADD', 'xg:due', '0', 't')
  }

  test('is a failure, counted once over two nodes, and the job is tried again', async () => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const dead = await here.client({ wid: 'worker-1' })
    const next = await there.client({ wid: 'worker-2' })
    await dead.pushAndFetch('12345678')
    await runOut(1)
    await expect
      .poll(() => figures(next))
      .toEqual({ ...nothing, retries: 1, processed: 1, failures: 1 })
    await makeDue(1)
    const { failure } = await next.askJson('FETCH')
    expect(failure).toMatchObject({
      errtype: 'ReservationExpired',
      message: 'reservation expired',
      retry_count: 0,
    })
    // The first ACK wins, whoever has the job by then; a second one is harmless.
    expect(await dead.ask('ACK {"jid":"12345678"}')).toBe('+OK')
    expect(await figures(next)).toEqual({ ...nothing, processed: 2, failures: 1 })
    expect(await next.ask('ACK {"jid":"12345678"}')).toBe('+OK')
    expect(await figures(next)).toEqual({ ...nothing, processed: 2, failures: 1 })
  })

  test.each([
    ['among the retries', () => undefined],
    ['queued again', () => makeDue(1)],
  ])('does not keep a late ACK from ending the job: %s', async (_where, moved) => {
    const worker = await gateways.client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678')
    await runOut(1)
    await expect.poll(() => figures(worker)).toMatchObject({ retries: 1 })
    await moved()
    expect(await worker.ask('ACK {"jid":"12345678"}')).toBe('+OK')
    expect(await figures(worker)).toEqual({ ...nothing, processed: 2, failures: 1 })
  })

  test('nor if the ACK comes at a node that never saw the worker', async () => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const worker = await here.client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678')
    await runOut(1)
    await expect.poll(() => figures(worker)).toMatchObject({ retries: 1 })
    const elsewhere = await there.client({ wid: 'worker-1' })
    expect(await elsewhere.ask('ACK {"jid":"12345678"}')).toBe('+OK')
    expect(await figures(elsewhere)).toMatchObject({ retries: 0, working: 0, processed: 2 })
  })

  test('nor if the job died of it', async () => {
    const worker = await gateways.client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678', { retry: -1 })
    await runOut(1)
    await expect.poll(() => figures(worker)).toMatchObject({ dead: 1 })
    expect(await worker.ask('ACK {"jid":"12345678"}')).toBe('+OK')
    expect(await figures(worker)).toMatchObject({ dead: 0, working: 0 })
  })

  test('and a late FAIL are one failure of the run, with what the worker says of it', async () => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const late = await here.client({ wid: 'late' })
    const next = await there.client({ wid: 'next' })
    await late.pushAndFetch('12345678')
    await runOut(1)
    await expect.poll(() => figures(next)).toMatchObject({ retries: 1 })
    expect(await late.ask('FAIL {"jid":"12345678","errtype":"Broken","message":"b"}')).toBe('+OK')
    await makeDue(1)
    const { failure } = await next.askJson('FETCH')
    expect(failure).toMatchObject({ errtype: 'Broken', message: 'b', retry_count: 0 })
    // Said by jid alone, as the job has another worker now: whoever has it may still end it.
    expect(await late.ask('FAIL {"jid":"12345678","errtype":"Broken","message":"b"}')).toBe('+OK')
    expect(await next.ask('ACK {"jid":"12345678"}')).toBe('+OK')
    expect(await figures(next)).toMatchObject({ working: 0, retries: 0, scheduled: 0 })
  })

  test.each([
    ['no retries is gone', 0, {}],
    ['none left is dead', -1, { dead: 1 }],
  ])('of a job with %s', async (_name, retry, left) => {
    const worker = await gateways.client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678', { retry })
    await runOut(1)
    await expect
      .poll(() => figures(worker))
      .toEqual({ ...nothing, processed: 1, failures: 1, ...left })
  })

  test('is that of a silent worker, whose ACK counts when it comes back', async () => {
    const [here, there] = [
      await gateways.open({ givesBack: true }),
      await gateways.open({ givesBack: true }),
    ]
    const silent = await here.client({ wid: 'silent' })
    await silent.pushAndFetch('12345678')
    here.clock.advance(60_000)
    await silent.closed()
    for (const node of [here, there]) node.clock.advance(600_000)
    const next = await there.client({ wid: 'next' })
    expect(await figures(next)).toMatchObject({ working: 1, failures: 0 })
    const again = await here.client({ wid: 'silent' })
    expect(await again.ask('ACK {"jid":"12345678"}')).toBe('+OK')
    expect(await figures(next)).toEqual({ ...nothing, processed: 1 })
  })

  test('is kept after the worker counts as dead, until then', async () => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const silent = await here.client({ wid: 'silent' })
    const next = await there.client({ wid: 'next' })
    await silent.pushAndFetch('12345678')
    here.clock.advance(60_000)
    await silent.closed()
    expect(here.rejections).toEqual(['dead'])
    expect(await figures(next)).toMatchObject({ working: 1, failures: 0 })
    await runOut(1)
    await expect.poll(() => figures(next)).toMatchObject({ retries: 1 })
    await makeDue(1)
    expect((await next.askJson('FETCH'))['jid']).toBe('12345678')
  })

  test.each([
    ['that names none', {}, 1_800],
    ['that names a short one', { reserve_for: 1 }, 60],
    ['that names its own', { reserve_for: 3_600 }, 3_600],
    ['that names a negative one', { reserve_for: -5 }, 60],
  ])('of a job %s does so at its time', async (_name, fields, seconds) => {
    const { client, scheduler } = await gateways.open()
    const worker = await client({ wid: 'worker-1' })
    await worker.push('12345678', fields)
    const beforeMs = scheduler.storeNowMs()
    await worker.ask('FETCH')
    const score = await gateways.redis('ZSCORE', 'xg:busy:t', '1')
    expect(Math.abs(Number(score) - beforeMs - seconds * 1000)).toBeLessThan(slackMs)
  })
})

describeFaktory('dead jobs', (gateways) => {
  test('are bounded, and the oldest go', async () => {
    const { client } = await gateways.open({ storeOptions: { deadPerLane: 3 } })
    const worker = await client({ wid: 'worker-1' })
    for (let n = 0; n < 5; n += 1) {
      await worker.pushAndFetch(`dead-000${n}`, { retry: -1, custom: { track: 1 } })
      await worker.ask(`FAIL {"jid":"dead-000${n}"}`)
    }
    expect(await figures(worker)).toEqual({ ...nothing, dead: 3, processed: 5, failures: 5 })
    const states = []
    for (let n = 0; n < 5; n += 1) {
      states.push((await worker.askJson(`TRACK GET dead-000${n}`))['state'])
    }
    expect(states).toEqual(['unknown', 'unknown', 'dead', 'dead', 'dead'])
  })

  test('are kept for 180 days, and then deleted by any node', async () => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const worker = await here.client({ wid: 'worker-1' })
    await worker.pushAndFetch('12345678', { retry: -1 })
    const beforeMs = here.scheduler.storeNowMs()
    await worker.ask('FAIL {"jid":"12345678"}')
    const score = await gateways.redis('ZSCORE', 'xg:dead:t', '1')
    expect(Math.abs(Number(score) - beforeMs - halfYearMs)).toBeLessThan(slackMs)
    await gateways.redis('ZADD', 'xg:dead:t', '0', '1')
    const other = await there.client()
    await expect.poll(() => figures(other)).toMatchObject({ dead: 0 })
    expect(await gateways.redis('KEYS', 'job:*')).toBe('')
    expect((await infoOf(other)).tasks).toMatchObject({
      Dead: { enqueued: 1, size: 0 },
    })
  })
})
