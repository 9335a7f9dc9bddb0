import type { Assignment } from '@crossgear/core-scheduler'
import type { Throttle } from '@crossgear/core-scheduler'
import { describe, expect, it } from 'vitest'
import { hasRedisServer } from '../support/redis-server.ts'
import { faktoryGateways, type FaktoryGateway } from './support/faktory-gateway.ts'
import { pushLine } from './support/figures.ts'

const blocksMs = 2_000

describe.skipIf(!hasRedisServer)('throttles', () => {
  const gateways = faktoryGateways()
  const open = (throttle: Throttle): Promise<FaktoryGateway> =>
    gateways.open({ storeOptions: { throttles: new Map([['bulk', throttle]]) } })

  it('let so many jobs run at a time, over two nodes, and the next worker as soon as one ends', async () => {
    const [here, there] = [await open({ concurrency: 1 }), await open({ concurrency: 1 })]
    const [one, other] = [await here.client({ wid: 'w1' }), await there.client({ wid: 'w2' })]
    for (const at of [1, 2, 3]) await one.ask(pushLine(`job0000${at}`, { queue: 'bulk' }))
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

  it('hold back no other queue', async () => {
    const { client } = await open({ concurrency: 1 })
    const one = await client({ wid: 'w1' })
    for (const at of [1, 2]) await one.ask(pushLine(`job0000${at}`, { queue: 'bulk' }))
    await one.ask(pushLine('job00003'))
    await one.ask('FETCH bulk')
    expect(await one.askJson('FETCH bulk default')).toMatchObject({ jid: 'job00003' })
  })

  it('hand out so many jobs in a time, and wake who waits when it is over', async () => {
    const perMs = 300
    const [here, there] = [
      await open({ rate: { jobs: 2, perMs } }),
      await open({ rate: { jobs: 2, perMs } }),
    ]
    const [one, other] = [await here.client({ wid: 'w1' }), await there.client({ wid: 'w2' })]
    for (const at of [1, 2, 3, 4]) await one.ask(pushLine(`job0000${at}`, { queue: 'bulk' }))
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

  it('hold for workers that named the function, too', async () => {
    const { client, scheduler } = await open({ concurrency: 1 })
    const one = await client({ wid: 'w1' })
    for (const at of [1, 2]) await one.ask(pushLine(`job0000${at}`, { queue: 'bulk' }))
    const claim = (): Promise<Assignment | undefined> =>
      new Promise((resolve, reject) => {
        scheduler.claim({
          interest: scheduler.namedInterest([{ fn: 't' }]),
          gone: false,
          assigned: resolve,
          nothing: () => resolve(undefined),
          refused: reject,
        })
      })
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
