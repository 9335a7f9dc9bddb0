import { aJob } from '../contract/kit.ts'
import type { SteppedStore } from '../contract/store-world.ts'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkInvariants } from '../../src/invariants/invariants.ts'
import { FilledStore } from './filled-store.ts'

/** A poll of as many takes longer than a job needs to become due meanwhile. */
const many = 100_000
const known = ['~job:*', '~queue:*', '~xg:*', '~uid:*', '~count:*']

describe.skipIf(lacksRedis)('jobs that are due at once', () => {
  let filled: FilledStore
  let store: SteppedStore

  beforeEach(async () => {
    filled = await FilledStore.open()
    store = await filled.world.node()
  })
  afterEach(() => filled.close())

  /** Jobs of some lanes that were due a moment ago. */
  async function fillDue(jobs: number, lanes: number): Promise<void> {
    for (let lane = 0; lane < lanes; lane += 1) await store.lanes.register(`due${lane}`)
    for (let lane = 0; lane < lanes; lane += 1) await store.lanes.open(`due${lane}`)
    const lua = `
local seconds = redis.call('TIME')[1]
for id = first, last do
  local lane = 'due' .. (id % ARGV[3])
  redis.call('HSET', 'job:' .. lane .. ':' .. id, 'status', 'idle', 'enqueued', 1700000000000 + id, 'door', 'faktory')
  redis.call('ZADD', 'queue:' .. lane .. ':scheduled', seconds - 1, id)
  redis.call('ZADD', 'xg:due', (seconds - 1) * 1000, lane)
end`
    await filled.fill(jobs, lua, String(lanes))
  }

  test.each([1, 100])(
    '20,000 of %i lanes are queued by one poll, in short calls and one command each',
    async (lanes) => {
      const jobs = 20_000
      await fillDue(jobs, lanes)
      let promoted = 0
      const cost = await filled.cost(async () => {
        for (const one of await store.lanes.promote()) promoted += one.jobs
      })
      expect(promoted).toBe(jobs)
      expect(cost.commands).toBeLessThan(1.4 * jobs)
      expect(cost.commands / cost.scripts).toBeLessThan(2 * 128)
      expect(cost.scripts).toBeLessThan(jobs / 128 + lanes + 50)
      expect((await filled.redis.llen('queue:due0:normal')) * lanes).toBe(jobs)
      expect(await checkInvariants(filled.redis)).toEqual([])
    },
  )

  test('one job of another lane does not wait for them', async () => {
    await fillDue(many, 1)
    await store.lanes.register('late')
    await store.steps.submit('late', [aJob({ dueAtMs: Date.now() + 100 })])
    await expect.poll(() => filled.redis.zcount('xg:due', '-inf', Date.now())).toBe(2)
    const promoting = store.lanes.promote()
    await expect.poll(() => filled.redis.llen('queue:late:normal')).toBe(1)
    expect(await filled.redis.zcard('queue:due0:scheduled')).toBeGreaterThan(0)
    await promoting
  })

  test('a job that becomes due meanwhile does not wait for them either', async () => {
    await fillDue(many, 1)
    await store.lanes.register('late')
    const promoting = store.lanes.promote()
    await store.steps.submit('late', [aJob({ dueAtMs: Date.now() + 50 })])
    await expect.poll(() => filled.redis.llen('queue:late:normal'), { interval: 5 }).toBe(1)
    expect(await filled.redis.zcard('queue:due0:scheduled')).toBeGreaterThan(0)
    await promoting
  })

  /** Due jobs of alternating levels in one lane; resolves with their number by list after a promotion. */
  async function promoteLevels(lane: string): Promise<number[]> {
    const { redis } = filled
    await store.lanes.register(lane)
    for (let id = 1; id <= 40; id += 1) {
      const level = id % 2 === 0 ? ['level', '9'] : []
      await redis.hset(
        `job:${lane}:${id}`,
        'status',
        'idle',
        'enqueued',
        1_700_000_000_000 + id,
        ...level,
      )
      await redis.zadd(`queue:${lane}:scheduled`, 1_700_000_000, id)
    }
    await redis.zadd('xg:due', 1, lane)
    await redis.config('RESETSTAT')
    await store.lanes.promote()
    return Promise.all(['high', 'normal', 'low'].map((band) => redis.llen(`queue:${lane}:${band}`)))
  }

  test.each([
    ['read by one SORT', 'sorted', [], true],
    ['in a lane with an asterisk in its name, without SORT', 'so*ted', [], false],
    ['where an ACL refuses SORT', 'refused', ['-sort'], true],
    ['where an ACL knows only keys of jobs and queues', 'limited', ['resetkeys', ...known], true],
  ])('they keep their levels, %s', async (_where, lane, rules, isSorted) => {
    await filled.redis.acl('SETUSER', 'default', ...rules)
    expect(await promoteLevels(lane)).toEqual([20, 20, 0])
    expect(/cmdstat_sort:/.test(await filled.redis.info('commandstats'))).toBe(isSorted)
  })
})
