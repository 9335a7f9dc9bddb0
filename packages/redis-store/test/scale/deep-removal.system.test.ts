import { LaneNames } from '@crossgear/core-scheduler'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RedisContext } from '../../src/connection/redis-context.ts'
import { FilledStore } from './filled-store.ts'
import { entriesOf } from './list-entries.ts'

const queued = 1_000_000
/** Entries of lists that a script reads or counts at most: about a millisecond of the server. */
const maxEntries = 17_000
/** Commands that a script calls at most, most of them some 8 us in such a list. */
const maxCommands = 200
/** Places by which a job comes earlier at most, where one is taken out of the middle. */
const stride = 2_048
const list = 'queue:mail:normal'

describe.skipIf(lacksRedis)(`in a queue of ${queued} jobs`, () => {
  let filled: FilledStore
  let store: Awaited<ReturnType<FilledStore['world']['node']>>

  beforeAll(async () => {
    filled = await FilledStore.open()
    store = await filled.world.node()
    await store.lanes.register('mail')
    await filled.fillQueue('mail', queued)
  })
  afterAll(() => filled.close())

  test('jobs anywhere are cancelled by scripts as short as in a queue of a tenth', async () => {
    const length = await filled.redis.llen(list)
    const gone = [1, 12_500, 250_000, 500_000, 500_001, 990_000, queued]
    for (const [before, id] of gone.entries()) {
      const scripts = await filled.scripts(async () =>
        expect(await store.admin.cancel('mail', id)).toBe(true),
      )
      for (const script of scripts) {
        expect(script.length).toBeLessThan(maxCommands)
        expect(entriesOf(script, length - before)).toBeLessThan(maxEntries)
      }
      expect(await filled.redis.exists(`job:mail:${id}`)).toBe(0)
    }
    const left = (await filled.redis.lrange(list, 0, -1)).map(Number).reverse()
    expect(left.length).toBe(length - gone.length)
    expect(new Set(left).size).toBe(left.length)
    expect(left.filter((id) => gone.includes(id))).toEqual([])
    // No other job moves back, and none comes much earlier.
    const earlier = left.map((id, at) => id - 1 - at)
    expect(earlier.every((places) => places >= 0)).toBe(true)
    expect(earlier.every((places) => places <= (stride + 1) * gone.length)).toBe(true)
    expect((await store.lanes.counts(['mail']))[0]?.normal).toBe(left.length)
  })

  /** One call of a cancellation, of a node that sends no other. */
  async function callCancel(id: number, cursor: string): Promise<unknown> {
    const names = new LaneNames()
    const context = new RedisContext({ path: filled.redis.options.path ?? '' }, names, 0)
    await context.redis.connect()
    const args = ['mail', 'node', id, cursor, 'cancelled', '']
    const reply = await context.run('cancel', [context.keys.busy('mail')], args)
    context.redis.disconnect()
    return typeof reply === 'number' ? reply : String(reply)
  }

  test('a job stays queued, once and in order, if the node dies while it cancels it', async () => {
    const id = 300_000
    const length = await filled.redis.llen(list)
    expect(await callCancel(id, '')).toMatch(/^at 2:/)
    const line = await filled.redis.lrange(list, 0, -1)
    expect(line.length).toBe(length)
    expect(new Set(line).size).toBe(length)
    const at = line.indexOf(String(id))
    const times = await Promise.all(
      line.slice(at - 1, at + 2).map((one) => filled.redis.hget(`job:mail:${one}`, 'enqueued')),
    )
    expect(times).toEqual(times.toSorted().reverse())
    const cost = await filled.cost(async () => {
      expect(await store.admin.cancel('mail', id)).toBe(true)
    })
    expect(cost.calls('lrange')).toBeLessThan(20)
    expect(await filled.redis.llen(list)).toBe(length - 1)
    expect(await filled.redis.lpos(list, String(id))).toBeNull()
  })

  test.each([
    { come: 0, max: 0 },
    { come: 100, max: 300 },
    { come: 1_000, max: 2_200 },
  ])(
    'behind $come jobs that came between two calls a job is found by reading $max at most',
    async ({ come, max }) => {
      const id = 600_000 + come
      const cursor = String(await callCancel(id, ''))
      expect(cursor).toMatch(/^at 2:/)
      await filled.fillQueue('mail', come)
      const length = await filled.redis.llen(list)
      const [next = []] = await filled.scripts(() => callCancel(id, cursor))
      expect(entriesOf(next, length)).toBeLessThanOrEqual(max)
      expect(await store.admin.cancel('mail', id)).toBe(true)
      expect(await filled.redis.llen(list)).toBe(length - 1)
    },
  )

  test('a job that another node moves between two calls is cancelled', async () => {
    const id = 400_000
    const length = await filled.redis.llen(list)
    const cursor = String(await callCancel(id, ''))
    await filled.redis.multi().lrem(list, 1, String(id)).lpush(list, String(id)).exec()
    await filled.redis.hset(`job:mail:${id}`, 'enqueued', '1900000000000')
    expect(await callCancel(id, cursor)).toBe(1)
    expect(await filled.redis.exists(`job:mail:${id}`)).toBe(0)
    expect(await filled.redis.lpos(list, String(id))).toBeNull()
    expect(await filled.redis.llen(list)).toBe(length - 1)
  })
})
