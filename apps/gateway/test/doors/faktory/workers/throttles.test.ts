import { functionLimit, type Throttle } from '@crossgear/core-scheduler'
import { expect, test } from 'vitest'
import { claimByName } from '../../../support/claims.ts'
import { describeFaktory, type FaktoryGateway } from '../support/faktory-gateway.ts'

const blocksMs = 2_000

describeFaktory('throttles', (gateways) => {
  const open = (throttle: Throttle): Promise<FaktoryGateway> =>
    gateways.open({
      storeOptions: { throttles: new Map([['bulk', throttle]]) },
      schedulerOptions: { throttles: new Map([['bulk', throttle]]) },
    })

  test('limit the jobs that run at a time, over two nodes, and wake the next worker as soon as one ends', async () => {
    const [here, there] = [await open({ concurrency: 1 }), await open({ concurrency: 1 })]
    const [one, other] = [await here.client({ wid: 'w1' }), await there.client({ wid: 'w2' })]
    for (const at of [1, 2, 3]) await one.push(`job0000${at}`, { queue: 'bulk' })
    expect(await one.askJson('FETCH bulk')).toMatchObject({ jid: 'job00001' })
    other.send('FETCH bulk')
    await there.clock.armed(blocksMs)
    await one.ask('ACK {"jid":"job00001"}')
    expect(await other.reply()).toContain('"jid":"job00002"')
    one.send('FETCH bulk')
    await here.clock.armed(blocksMs)
    await other.ask('FAIL {"jid":"job00002"}')
    expect(await one.reply()).toContain('"jid":"job00003"')
  })

  test('of a function hold over its queues and two nodes, hold back no other job, and wake the next worker', async () => {
    const throttles = new Map([[functionLimit('tight'), { concurrency: 1 }]])
    const settings = { storeOptions: { throttles }, schedulerOptions: { throttles } }
    const [here, there] = [await gateways.open(settings), await gateways.open(settings)]
    const [one, other] = [await here.client({ wid: 'w1' }), await there.client({ wid: 'w2' })]
    const tight = { jobtype: 'tight' }
    await one.push('job00001', { ...tight, queue: 'bulk' })
    await one.push('job00002', tight)
    await one.push('job00003')
    expect(await one.askJson('FETCH bulk default')).toMatchObject({ jid: 'job00001' })
    expect(await other.askJson('FETCH bulk default')).toMatchObject({ jid: 'job00003' })
    other.send('FETCH bulk default')
    await there.clock.armed(blocksMs)
    await one.ask('ACK {"jid":"job00001"}')
    expect(await other.reply()).toContain('"jid":"job00002"')
  })

  test('hold back no other queue', async () => {
    const { client } = await open({ concurrency: 1 })
    const one = await client({ wid: 'w1' })
    for (const at of [1, 2]) await one.push(`job0000${at}`, { queue: 'bulk' })
    await one.push('job00003')
    await one.ask('FETCH bulk')
    expect(await one.askJson('FETCH bulk default')).toMatchObject({ jid: 'job00003' })
  })

  test('limit the jobs of one worker, over its connections and nodes, and not those of others', async () => {
    const [here, there] = [await open({ perWorker: 1 }), await open({ perWorker: 1 })]
    const one = await here.client({ wid: 'w1' })
    const [same, other] = [await there.client({ wid: 'w1' }), await there.client({ wid: 'w2' })]
    for (const at of [1, 2, 3]) await one.push(`job0000${at}`, { queue: 'bulk' })
    expect(await one.askJson('FETCH bulk')).toMatchObject({ jid: 'job00001' })
    same.send('FETCH bulk')
    await there.clock.armed(blocksMs)
    expect(await other.askJson('FETCH bulk')).toMatchObject({ jid: 'job00002' })
    await one.ask('ACK {"jid":"job00001"}')
    expect(await same.reply()).toContain('"jid":"job00003"')
  })

  test('wake a worker that may take more if another waiting worker may not', async () => {
    const { client, clock } = await open({ perWorker: 1 })
    const [full, waiting, free] = [
      await client({ wid: 'w1' }),
      await client({ wid: 'w1' }),
      await client({ wid: 'w2' }),
    ]
    await full.pushAndFetch('job00001', { queue: 'bulk' })
    waiting.send('FETCH bulk')
    await clock.armed(blocksMs)
    free.send('FETCH bulk')
    await clock.armed(blocksMs, 2)
    await full.push('job00002', { queue: 'bulk' })
    expect(await free.reply()).toContain('"jid":"job00002"')
  })

  test('count each connection without a wid for itself', async () => {
    const { client } = await open({ perWorker: 1 })
    const [one, other] = [await client(), await client()]
    for (const at of [1, 2, 3]) await one.push(`job0000${at}`, { queue: 'bulk' })
    await one.push('job00004')
    expect(await one.askJson('FETCH bulk')).toMatchObject({ jid: 'job00001' })
    expect(await other.askJson('FETCH bulk')).toMatchObject({ jid: 'job00002' })
    expect(await one.askJson('FETCH bulk default')).toMatchObject({ jid: 'job00004' })
  })

  test('let a job that exceeds their timeout continue, and hand out the next', async () => {
    const { client } = await open({ concurrency: 1, timeoutMs: 300 })
    const [one, other] = [await client({ wid: 'w1' }), await client({ wid: 'w2' })]
    for (const at of [1, 2]) await one.push(`job0000${at}`, { queue: 'bulk' })
    const startMs = performance.now()
    await one.ask('FETCH bulk')
    expect(await other.askJson('FETCH bulk')).toMatchObject({ jid: 'job00002' })
    expect(performance.now() - startMs).toBeGreaterThan(280)
    expect(await one.ask('ACK {"jid":"job00001"}')).toBe('+OK')
    expect((await one.askJson('INFO'))['faktory']).toMatchObject({ sets: { working: 1 } })
  })

  test('hand out the allowed jobs of a time window, and wake waiting workers after it', async () => {
    const perMs = 300
    const [here, there] = [
      await open({ rate: { jobs: 2, perMs } }),
      await open({ rate: { jobs: 2, perMs } }),
    ]
    const [one, other] = [await here.client({ wid: 'w1' }), await there.client({ wid: 'w2' })]
    for (const at of [1, 2, 3, 4]) await one.push(`job0000${at}`, { queue: 'bulk' })
    const startMs = performance.now()
    await one.ask('FETCH bulk')
    await other.ask('FETCH bulk')
    const replies = await Promise.all([one.ask('FETCH bulk'), other.ask('FETCH bulk')])
    expect(replies.map((reply) => /job0000\d/.exec(reply)?.[0]).sort()).toEqual([
      'job00003',
      'job00004',
    ])
    expect(performance.now() - startMs).toBeGreaterThan(perMs - 20)
  })

  test('also apply to by-name workers', async () => {
    const { client, scheduler } = await open({ concurrency: 1 })
    const one = await client({ wid: 'w1' })
    for (const at of [1, 2]) await one.push(`job0000${at}`, { queue: 'bulk' })
    const claim = () => claimByName(scheduler, 't')
    const first = await claim()
    expect(first?.job.jid).toBe('job00001')
    expect(await claim()).toBeUndefined()
    await new Promise<void>((settled, refused) => {
      if (first)
        scheduler.complete(first, Buffer.from('done'), { settled: () => settled(), refused })
    })
    expect((await claim())?.job.jid).toBe('job00002')
  })
})
