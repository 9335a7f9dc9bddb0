import { StoreError, type ClaimRequest, type NewJob } from '@crossgear/core-scheduler'
import { soon } from '@crossgear/tools/wait-for'
import { allCompleted, completed, takeOne } from '../contract/kit.ts'
import { patientCluster, RedisCluster } from '@crossgear/tools/redis-cluster'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { StoreKeys } from '../../src/keys.ts'
import { RedisStore, type StoreAddress } from '../../src/index.ts'

const job: NewJob = { input: Buffer.from('in'), door: 'gearman', level: 5, foreground: false }
const keys = new StoreKeys(true)

describe.skipIf(lacksRedis)('in a cluster of which one master is gone,', () => {
  let cluster: RedisCluster
  let store: RedisStore
  /** Has the index of the lanes that have jobs. */
  let indexing: RedisServer
  const nodes = (): StoreAddress => ({
    nodes: cluster.masters.map(({ port }) => ({ host: '127.0.0.1', port })),
  })

  beforeEach(async () => {
    cluster = await RedisCluster.start({
      words: [...patientCluster, '--cluster-require-full-coverage', 'no'],
    })
    // A gateway, too, waits for its store: on a busy machine nobody may answer in time at first.
    await vi.waitFor(async () => {
      store = new RedisStore(nodes(), { answerWithinMs: 1_000 })
      await store.open().catch(async (error: unknown) => {
        await store.close()
        throw error
      })
    }, soon)
    indexing = await cluster.masterOf(keys.ready('default'))
  })
  afterEach(async () => {
    await store.close()
    await cluster.stop()
  })

  const laneOn = async (isWanted: (server: RedisServer) => boolean): Promise<string> => {
    for (let at = 0; ; at += 1) {
      const lane = `lane${at}`
      if (!isWanted(await cluster.masterOf(keys.busy(lane)))) continue
      await store.lanes.register(lane)
      return lane
    }
  }

  test('a batch counts its jobs, even if the index of some of their jids is unreachable', async () => {
    const living = await cluster.masterOf(keys.lanes)
    const lane = await laneOn((server) => server === living)
    const bid = 'a-batch'
    await store.batches.create({ bid, description: '' })
    const jobs = Array.from({ length: 20 }, (_none, at) => ({
      ...job,
      jid: `jid-${at}`,
      batch: bid,
    }))
    await store.steps.submit(
      lane,
      jobs.map((each) => ({ ...each, door: 'faktory' as const })),
    )
    const away = cluster.masters.find((server) => server !== living)
    await away?.kill()
    const taken = await store.steps.claim({ by: 'named', groups: [{ lanes: [lane] }], max: 20 })
    expect(taken).toHaveLength(20)
    await store.steps.finish(lane, allCompleted(taken))
    expect(await store.batches.state(bid)).toMatchObject({ pending: 0 })
  })

  test('a job that is stored is accepted, though the index of its queue is unreachable', async () => {
    const lane = await laneOn((server) => server !== indexing)
    await indexing.kill()
    expect(await store.steps.submit(lane, [job])).toMatchObject([{ kind: 'created' }])
  })

  test('an outcome that is stored is settled, though the index of its queue is unreachable', async () => {
    const lane = await laneOn((server) => server !== indexing)
    await store.steps.submit(lane, [job, job])
    const taken = await takeOne(store, lane)
    await indexing.kill()
    expect(await store.steps.finish(lane, [completed(taken)])).toHaveLength(1)
  })

  test('a node lives on, even if jobs of a lane with a frozen server cannot be given back', async () => {
    const living = await cluster.masterOf(keys.nodes)
    const lane = await laneOn((server) => server !== living)
    const still = await cluster.masterOf(keys.busy(lane))
    still.freeze()
    const claim = store.steps.claim({ by: 'named', groups: [{ lanes: [lane] }], max: 1 })
    await expect(claim).rejects.toMatchObject({ code: 'TIMEOUT' })
    await expect(store.nodes.beat()).resolves.toBeDefined()
    still.thaw()
  })

  test('a claim hands out the jobs that it took before it reached an unreachable lane', async () => {
    const here = await laneOn((server) => server !== indexing)
    const away = await laneOn((server) => server === indexing)
    await store.steps.submit(here, [job])
    await indexing.kill()
    const groups = [{ lanes: [here] }, { lanes: [away] }]
    expect(await store.steps.claim({ by: 'named', groups, max: 2 })).toHaveLength(1)
  })

  test('a claim of several functions brings the jobs of the reachable ones, in any order', async () => {
    const here = await laneOn((server) => server !== indexing)
    const away = await laneOn((server) => server === indexing)
    for (const lane of [away, here]) await store.steps.submit(lane, [job, job])
    await indexing.kill()
    const together = [{ lanes: [away, here] }]
    const apart = [{ lanes: [away] }, { lanes: [here] }]
    for (const groups of [together, apart]) {
      const taken = await store.steps.claim({ by: 'named', groups, max: 1 })
      expect(taken).toMatchObject([{ lane: here }])
    }
  })

  test('a claim that finds nothing and could not reach every lane fails', async () => {
    const here = await laneOn((server) => server !== indexing)
    const away = await laneOn((server) => server === indexing)
    await indexing.kill()
    const groups = [{ lanes: [away, here] }]
    const emptied = vi.fn()
    const claimed = store.steps.claim({ by: 'named', groups, max: 1, emptied })
    await expect(claimed).rejects.toBeInstanceOf(StoreError)
    expect(emptied).not.toHaveBeenCalled()
  })

  /** A Faktory worker's request. */
  const ofQueue = (lanes: readonly string[]): ClaimRequest => ({
    by: 'consumer',
    groups: [{ lanes, queue: 'default' }],
    max: 1,
  })

  test('a claim of a queue brings the jobs of reachable lanes, behind any number of unreachable ones', async () => {
    const gone = cluster.masters.find((server) => server !== indexing)!
    const away: string[] = []
    for (let at = 0; away.length < 20; at += 1) {
      const lane = `away${at}`
      if ((await cluster.masterOf(keys.busy(lane))) === gone) away.push(lane)
    }
    for (const lane of away) await open(lane)
    const here = await laneOn((server) => server !== gone)
    await open(here)
    await gone.kill()
    expect(await store.steps.claim(ofQueue([...away, here]))).toMatchObject([{ lane: here }])
  })

  test('a claim of a queue whose index is unreachable brings the jobs of reachable lanes', async () => {
    const here = await laneOn((server) => server !== indexing)
    const away = await laneOn((server) => server === indexing)
    for (const lane of [away, here]) await open(lane)
    await indexing.kill()
    expect(await store.steps.claim(ofQueue([away, here]))).toMatchObject([{ lane: here }])
  })

  async function open(lane: string): Promise<void> {
    await store.lanes.open(lane)
    await store.steps.submit(lane, [{ ...job, door: 'faktory' }])
  }

  describe('and has neither the broker’s keys nor the index,', () => {
    let here: string
    let away: string
    let killed: RedisServer

    beforeEach(async () => {
      const broker = await cluster.masterOf(keys.due)
      const gone = cluster.masters.find((server) => server !== broker && server !== indexing)!
      here = await laneOn((server) => server !== gone)
      away = await laneOn((server) => server === gone)
      killed = gone
    })

    test('due jobs are promoted where possible, though others were due before', async () => {
      const dueAtMs = Date.now() + 100
      await store.steps.submit(away, [{ ...job, dueAtMs }])
      await store.steps.submit(here, [{ ...job, dueAtMs: dueAtMs + 1 }])
      await killed.kill()
      const groups = [{ lanes: [here] }]
      await vi.waitFor(async () => {
        await store.lanes.promote()
        expect(await store.steps.claim({ by: 'named', groups, max: 1 })).toHaveLength(1)
      }, soon)
    })

    test('jobs of a dead node go back where possible, and the others when the master is back', async () => {
      const dead = new RedisStore(nodes())
      await dead.open()
      await dead.nodes.beat()
      for (const lane of [here, away]) {
        await store.steps.submit(lane, [job])
        await dead.steps.claim({ by: 'named', groups: [{ lanes: [lane] }], max: 1 })
      }
      const { node } = dead
      await dead.close()
      killed.freeze()
      const loss = { maxLosses: 0, failure: '{}' }
      await store.nodes.declareDead(node)
      const { woken, refused } = await store.nodes.reclaim(node, [away, here], loss)
      expect([woken, [...refused.keys()]]).toEqual([[here], [away]])
      await store.nodes.endReclaim(node, false)
      expect((await store.nodes.beat()).heartbeats.has(node)).toBe(true)
      killed.thaw()
      await vi.waitFor(async () => {
        await store.nodes.declareDead(node)
        expect((await store.nodes.reclaim(node, [away], loss)).refused.size).toBe(0)
        await store.nodes.endReclaim(node, true)
        expect((await store.nodes.beat()).heartbeats.has(node)).toBe(false)
      }, soon)
      const groups = [{ lanes: [away] }]
      expect(await store.steps.claim({ by: 'named', groups, max: 1 })).toHaveLength(1)
    })

    test('expired leases are found where possible', async () => {
      await store.steps.submit(here, [job])
      const groups = [{ lanes: [here], leaseMs: 1 }]
      await store.steps.claim({ by: 'consumer', groups, max: 1 })
      await killed.kill()
      await vi.waitFor(async () => {
        expect(await store.jobs.expired([away, here], 10)).toHaveLength(1)
      }, soon)
    })
  })
})
