import { completed, takeOne } from '../contract/kit.ts'
import { LaneNames, noStep, soleAnswer, type NewJob } from '@crossgear/core-scheduler'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterEach, describe, expect, test } from 'vitest'
import type { SteppedStore } from '../contract/store-world.ts'
import { ClockOffset } from '../../src/connection/clock-offset.ts'
import { BatchJoins, type Join } from '../../src/cluster/batch-joins.ts'
import { JobSteps } from '../../src/step/job-steps.ts'
import { RedisContext } from '../../src/connection/redis-context.ts'
import { connect } from '../../src/connection/connection.ts'
import type { RedisWorld } from '../support/redis-world.ts'
import { aCluster, eachInNewWorld } from '../support/servers.ts'

const bid = 'b1'
const job: NewJob = {
  input: Buffer.from('in'),
  door: 'faktory',
  level: 5,
  foreground: false,
  batch: bid,
}
const bounds = { deadPerLane: 10, deadSeconds: 10, reserveForSeconds: 10 }
const nobody = { knowsAll: () => false, has: () => false }

/** A node that does the steps of a submission one by one, and dies when the test says. */
class DyingNode {
  readonly #context: RedisContext
  readonly #joins: BatchJoins
  readonly #jobs: JobSteps

  constructor(context: RedisContext) {
    this.#context = context
    this.#joins = new BatchJoins(context)
    this.#jobs = new JobSteps(context, new ClockOffset(), bounds, nobody)
  }

  async joins(jobs: number): Promise<Join> {
    const join = await this.#joins.join(bid, 'mail', jobs)
    if (!join) throw new Error('the batch is not known')
    return join
  }

  async stores({ note }: Join, jobs: number): Promise<readonly { readonly kind: string }[]> {
    const many = Array.from({ length: jobs }, () => job)
    const arrivals = { lane: 'mail', jobs: many, places: [...many.keys()] }
    const ways = { notes: new Map([[arrivals, new Map([[bid, note]])]]) }
    const { submissions } = await this.#jobs.step({ ...noStep, submissions: [arrivals] }, ways)
    return soleAnswer(submissions).results
  }

  dies(): void {
    this.#context.redis.disconnect()
  }
}

describe.skipIf(lacksRedis)('in a cluster, with redis-server, a batch whose node dies', () => {
  let world: RedisWorld
  let store: SteppedStore
  let dying: DyingNode

  eachInNewWorld(aCluster, async (opened, { address }) => {
    world = opened
    store = await world.node()
    await store.lanes.register('mail')
    await store.lanes.open('mail')
    await store.batches.create({ bid, description: '' })
    const context = new RedisContext(address, new LaneNames(), 0)
    await connect(context.redis)
    dying = new DyingNode(context)
  })
  afterEach(() => dying.dies())

  const state = () => store.batches.state(bid)
  const heal = () => store.lanes.heal(['mail'])

  async function runsAJob(): Promise<void> {
    await store.steps.finish('mail', [completed(await takeOne(store, 'mail'))])
  }

  test('before its jobs are stored waits for them only for some seconds', async () => {
    await store.steps.submit('mail', [job])
    await dying.joins(2)
    dying.dies()
    await store.batches.commit(bid)
    await runsAJob()
    await heal()
    expect(await state()).toMatchObject({ total: 3, pending: 2 })
    await world.pass(20_000)
    await heal()
    expect(await state()).toMatchObject({ total: 1, pending: 0, failed: 0 })
  })

  test('accepts none of them afterwards', async () => {
    const join = await dying.joins(2)
    await world.pass(20_000)
    await heal()
    expect(await dying.stores(join, 2)).toEqual([{ kind: 'unbatched' }, { kind: 'unbatched' }])
    expect(await state()).toMatchObject({ total: 0, pending: 0 })
  })

  test('after its jobs are stored waits until they have been run', async () => {
    const join = await dying.joins(2)
    await dying.stores(join, 2)
    dying.dies()
    await store.batches.commit(bid)
    await world.pass(20_000)
    await heal()
    await heal()
    expect(await state()).toMatchObject({ total: 2, pending: 2 })
    await runsAJob()
    await runsAJob()
    await heal()
    expect(await state()).toMatchObject({ total: 2, pending: 0 })
  })

  test('leaves no note of a submission that ended', async () => {
    await store.steps.submit('mail', [job, job])
    expect(await world.redis.zcard('{xg}:joins')).toBe(0)
    const servers = 'nodes' in world.redis ? world.redis.nodes('master') : []
    const left = await Promise.all(servers.map((server) => server.keys('xg:joined:*')))
    expect(left.flat()).toEqual([])
  })
})
