import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FilledStore } from './filled-store.ts'

const entries = 3_000
/** Entries of one call, and the commands for each at most. */
const maxPerCall = 250 * 3

describe.skipIf(lacksRedis)(`a sweep through ${entries} entries of unfinished jobs`, () => {
  let filled: FilledStore

  beforeEach(async () => {
    filled = await FilledStore.open()
  })
  afterEach(() => filled.close())

  test('takes short calls, finds jobs that a native worker finished, and drops deleted ones', async () => {
    const { native, lanes } = await filled.world.node()
    await lanes.register('mail')
    const lua = `
for id = first, last do
  if id % 3 > 0 then
    redis.call('HSET', 'job:mail:' .. id, 'status', id % 3 == 1 and 'idle' or 'success', 'door', 'faktory', 'input', '1')
  end
  redis.call('HSET', 'xg:unique:mail', 'unique-' .. id, id)
  redis.call('HSET', 'xg:jids', 'jid-' .. id, id .. ' mail')
end`
    await filled.fill(entries, lua)
    const byUnique = new Set<number>()
    const byJid = new Set<number>()
    const cost = await filled.cost(async () => {
      for (let from: string | undefined = 'unique 0'; from !== undefined;) {
        const { ids, next } = await native.sweep('mail', from)
        for (const id of ids) byUnique.add(id)
        from = next
      }
      let from: string | undefined
      do {
        const { refs, next } = await native.sweepJids(from)
        for (const { id } of refs) byJid.add(id)
        from = next
      } while (from !== undefined)
    })
    const finished = Array.from({ length: entries / 3 }, (_none, at) => 3 * at + 2)
    expect([...byUnique].sort((one, other) => one - other)).toEqual(finished)
    expect(byJid).toEqual(byUnique)
    expect(await filled.redis.hlen('xg:unique:mail')).toBe((2 * entries) / 3)
    expect(await filled.redis.hlen('xg:jids')).toBe((2 * entries) / 3)
    expect(cost.commands / cost.scripts).toBeLessThan(maxPerCall)
  })
})

describe.skipIf(lacksRedis)('a scan of the jobs of 500 functions', () => {
  test('takes one call for 100 jobs of any function, and finds orphans', async () => {
    const filled = await FilledStore.open()
    const { native } = await filled.world.node()
    const lua = `
for id = first, last do
  local lane = 'f' .. (id % 500 + 1)
  redis.call('HSET', 'job:' .. lane .. ':' .. id, 'status', 'idle', 'enqueued', 1700000000000 + id, 'door', 'faktory', 'input', '1')
  redis.call('LPUSH', 'queue:' .. lane .. ':normal', id)
end`
    await filled.fillLanes(500)
    await filled.fill(2_000, lua)
    await filled.redis.hset('job:f7:3000', 'status', 'busy', 'input', 'left by a worker')
    await filled.redis.hset('job:f9:1', 'status', 'idle', 'input', 'left by a client')
    const suspicious: string[] = []
    const cost = await filled.cost(async () => {
      for (let isOver = false; !isOver;) {
        const page = await native.survey(true)
        suspicious.push(...page.suspicious)
        isOver = page.lapEnded
      }
    })
    expect(suspicious.sort()).toEqual(['f7', 'f9'])
    expect(await filled.redis.zrange('xg:suspects:f7', '0', '-1')).toEqual(['b3000 /'])
    expect(await filled.redis.zrange('xg:suspects:f9', '0', '-1')).toEqual(['i1 '])
    expect(cost.scripts).toBeLessThan(40)
    await filled.close()
  })
})
