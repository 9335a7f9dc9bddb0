import { LaneNames, noStep, soleAnswer, type NewJob, type Lease } from '@crossgear/core-scheduler'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterEach, describe, expect, test } from 'vitest'
import { completed, takeOne } from '../contract/kit.ts'
import type { SteppedStore } from '../contract/store-world.ts'
import { ClockOffset } from '../../src/connection/clock-offset.ts'
import { connect } from '../../src/connection/connection.ts'
import { JobSteps } from '../../src/step/job-steps.ts'
import { RedisContext } from '../../src/connection/redis-context.ts'
import { aCluster, eachInNewWorld } from '../support/servers.ts'

const bid = 'b1'
const bounds = { deadPerLane: 10, deadSeconds: 10, reserveForSeconds: 10 }
const nobody = { knowsAll: () => false, has: () => false }
const job = (input: string): NewJob => ({
  input: Buffer.from(input),
  door: 'faktory',
  level: 5,
  foreground: false,
})
const callback = (name: string) => ({ lane: 'calls', job: { ...job(name), jid: `jid-${name}` } })

describe.skipIf(lacksRedis)('in a cluster, with redis-server, callbacks of a batch', () => {
  let store: SteppedStore
  let dying: RedisContext

  eachInNewWorld(aCluster, async (world, { address }) => {
    store = await world.node()
    for (const lane of ['mail', 'calls']) {
      await store.lanes.register(lane)
      await store.lanes.open(lane)
    }
    dying = new RedisContext(address, new LaneNames(), 0)
    await connect(dying.redis)
  })
  afterEach(() => dying.redis.disconnect())

  /** The lane's part of an outcome is done; the node dies before any other slot has heard of it. */
  async function endsAndDies(lease: Lease): Promise<void> {
    const ended = { lane: lease.lane, outcomes: [completed(lease)] }
    const jobs = new JobSteps(dying, new ClockOffset(), bounds, nobody)
    soleAnswer((await jobs.step({ ...noStep, outcomes: [ended] })).outcomes)
    dying.redis.disconnect()
  }

  test('are repaired after their node died: complete', async () => {
    await store.batches.create({ bid, description: '', complete: callback('complete') })
    await store.steps.submit('mail', [{ ...job('in'), batch: bid }])
    await store.batches.commit(bid)
    await endsAndDies(await takeOne(store, 'mail'))
    await store.lanes.heal(['mail', 'calls'])
    expect((await takeOne(store, 'calls')).input.toString()).toBe('complete')
  })

  test('are repaired after their node died: success after complete', async () => {
    await store.batches.create({
      bid,
      description: '',
      complete: callback('complete'),
      success: callback('success'),
    })
    await store.batches.commit(bid)
    await endsAndDies(await takeOne(store, 'calls'))
    expect(await store.batches.state(bid)).toMatchObject({ complete: 'pushed', success: 'none' })
    await store.lanes.heal(['mail', 'calls'])
    expect((await takeOne(store, 'calls')).input.toString()).toBe('success')
    expect(await store.batches.state(bid)).toMatchObject({ complete: 'done', success: 'pushed' })
  })
})
