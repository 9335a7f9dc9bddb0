import { RedisSentinel } from '@crossgear/tools/redis-sentinel'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { idIn } from '../gearman/support/handle-parts.ts'
import type { GearmanPeer } from '../gearman/support/gearman-peer.ts'
import { TroubledGateway } from './support/troubled-gateway.ts'

const patience = { timeout: 30_000, interval: 50 }

/** Submits without a pause; handles of acknowledged jobs, and refusals. */
class Producer {
  readonly handles: string[] = []
  readonly refusals: string[] = []
  readonly #client: GearmanPeer
  #isOver = false
  readonly #done: Promise<void>

  constructor(client: GearmanPeer) {
    this.#client = client
    this.#done = this.#run()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#done
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const [name = '', word = ''] = await this.#client.ask('SUBMIT_JOB_BG', 'mail', '', '')
      if (name === 'JOB_CREATED') this.handles.push(word)
      else this.refusals.push(word)
    }
  }
}

describe.skipIf(lacksRedis)('with redis-server, in a planned failover', () => {
  test('a gateway loses no acknowledged job, waits instead of refusing, and gives no handle twice', async () => {
    const sentinel = await RedisSentinel.start()
    onTestFinished(() => sentinel.stop())
    const [before] = sentinel.servers
    const gateway = await TroubledGateway.open({ url: sentinel.url, thaw: () => undefined })
    const producers = [await gateway.peer(), await gateway.peer()].map((peer) => new Producer(peer))
    const acknowledged = () => producers.flatMap(({ handles }) => handles)
    await vi.waitFor(() => expect(acknowledged().length).toBeGreaterThan(100), patience)

    const after = await sentinel.failover()
    const had = acknowledged().length
    await vi.waitFor(() => expect(acknowledged().length).toBeGreaterThan(had + 100), patience)
    // By then Sentinels have made a replica of the former master, which has dropped what it took alone.
    await vi.waitFor(async () => expect(await before!.ask('ROLE')).toMatch(/^slave/), patience)
    for (const producer of producers) await producer.stop()

    const handles = acknowledged()
    const ids = handles.map((handle) => idIn(handle))
    const there = after.connect()
    const found = await Promise.all(ids.map((id) => there.exists(`job:mail:${id}`)))
    expect(found.filter((one) => one === 0).length).toBe(0)
    expect(new Set(handles).size).toBe(handles.length)
    // Only what was under way at that moment may be refused, where its answer came late.
    const refusals = producers.flatMap((producer) => producer.refusals)
    expect(refusals.length).toBeLessThanOrEqual(producers.length)
    await gateway.takesJobs()
    await gateway.runsJobs()
  })
})
