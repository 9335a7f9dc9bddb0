import type { LaneNames } from '@crossgear/core-scheduler'
import type { Redis } from 'ioredis'

/** Workers that are connected to a gateway: by the functions that they named, and by the queues that they fetch from. */
export interface Connected {
  readonly byFunction: ReadonlyMap<string, number>
  readonly byQueue: ReadonlyMap<string, number>
}

/** By node. */
export type NodeWorkers = ReadonlyMap<string, Connected>

/** A count of workers in the store: of one node (`n:` by name, `c:` consumers), or of a lane (`count`). */
interface WorkerCount {
  readonly lane: string
  readonly field: string
  readonly workers: number
}

/** Jobs that stand in a queue or run: lane, id, status and payload by turns. */
const unfinishedJobs = `
local found = {}
for _, key in ipairs(redis.call('KEYS', 'job:*')) do
  local lane, id = key:match('^job:(.+):(%d+)$')
  local job = redis.call('HMGET', key, 'status', 'input', 'fg', 'wait')
  -- A foreground job that nobody waits for goes with the next claim of its lane.
  local isWanted = not job[3] or job[4] and job[4] ~= ''
  if lane and (job[1] == 'busy' or job[1] == 'idle' and isWanted) then
    found[#found + 1] = string.format('%s:%s %s (%s)', lane, id, job[1], job[2] or '')
  end
end
table.sort(found)
return found`

/** Names, leases and due jobs that should have gone with their jobs. Dead jobs keep their names. */
const leftBehind = `
local found = {}
local function add(lane, what, id)
  if redis.call('ZSCORE', 'xg:dead:' .. lane, id) then return end
  found[#found + 1] = lane .. ': ' .. what .. ' still has ' .. id
end
for _, what in ipairs({ 'unique', 'jid' }) do
  for _, key in ipairs(redis.call('KEYS', 'xg:' .. what .. ':*')) do
    for _, id in ipairs(redis.call('HVALS', key)) do add(key:sub(#what + 5), what, id) end
  end
end
for what, pattern in pairs({ busy = '^xg:busy:(.+)$', scheduled = '^queue:(.+):scheduled$' }) do
  for _, key in ipairs(redis.call('KEYS', what == 'busy' and 'xg:busy:*' or 'queue:*:scheduled')) do
    for _, id in ipairs(redis.call('ZRANGE', key, 0, -1)) do add(key:match(pattern), what, id) end
  end
end
for _, key in ipairs(redis.call('KEYS', 'xg:held:*')) do
  for _, token in ipairs(redis.call('HKEYS', key)) do found[#found + 1] = key .. ' still has ' .. token end
end
table.sort(found)
return found`

/** Jobs that workers of gateways have, of these lanes. */
const leasedJobs = `
local found = {}
for _, key in ipairs(KEYS) do
  for _, id in ipairs(redis.call('ZRANGE', key, 0, -1)) do found[#found + 1] = key .. ' ' .. id end
end
return found`

/** Lane and value of jobs that workers of gateways have, of these lanes. */
const turnsLeased = `
local found = {}
for _, lane in ipairs(ARGV) do
  for _, id in ipairs(redis.call('ZRANGE', 'xg:busy:' .. lane, 0, -1)) do
    found[#found + 1] = lane .. ' ' .. (redis.call('HGET', 'job:' .. lane .. ':' .. id, 'turn') or '')
  end
end
return found`

/** Lane, field and count by turns: of each node, and of all workers of the lane. */
const workerCounts = `
local found = {}
local function add(lane, field, count)
  found[#found + 1] = lane
  found[#found + 1] = field
  found[#found + 1] = count
end
for _, key in ipairs(redis.call('KEYS', 'xg:lane:*')) do
  local fields = redis.call('HGETALL', key)
  for at = 1, #fields, 2 do
    if fields[at]:match('^[nc]:') then add(key:sub(9), fields[at], fields[at + 1]) end
  end
end
for _, key in ipairs(redis.call('KEYS', 'count:*')) do add(key:sub(7), 'count', redis.call('GET', key)) end
return found`

/** Reads of a real store by its world. */
export class StoreReads {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  async unfinished(): Promise<readonly string[]> {
    return (await this.#redis.eval(unfinishedJobs, 0)) as string[]
  }

  async leftovers(): Promise<readonly string[]> {
    return (await this.#redis.eval(leftBehind, 0)) as string[]
  }

  async workers(): Promise<readonly WorkerCount[]> {
    const counts = (await this.#redis.eval(workerCounts, 0)) as string[]
    const found: WorkerCount[] = []
    for (let at = 0; at + 2 < counts.length; at += 3) {
      const [lane = '', field = '', workers] = counts.slice(at, at + 3)
      found.push({ lane, field, workers: Number(workers) })
    }
    return found
  }

  /** Jobs of these lanes that workers have. */
  async leased(lanes: readonly string[]): Promise<readonly string[]> {
    const keys = lanes.map((lane) => `xg:busy:${lane}`)
    return (await this.#redis.eval(leasedJobs, keys.length, ...keys)) as string[]
  }

  /** Lanes and values of jobs that take turns in these lanes and that workers have. */
  async turnsLeased(lanes: readonly string[]): Promise<readonly string[]> {
    return (await this.#redis.eval(turnsLeased, 0, ...lanes)) as string[]
  }

  async inputOf(lane: string, id: number): Promise<string> {
    return (await this.#redis.hget(`job:${lane}:${id}`, 'input')) ?? ''
  }
}

/** Counts of the store that differ from the workers that are connected, and functions whose workers it does not count at all. */
export function miscountsOf(
  counts: readonly WorkerCount[],
  workers: NodeWorkers,
  names: LaneNames,
): readonly string[] {
  const found: string[] = []
  for (const { lane, field, workers: counted } of counts) {
    const [kind, node] = [field.slice(0, 1), field.slice(2)]
    const { fn, queue } = names.parse(lane)
    const { byFunction, byQueue } = workers.get(node) ?? nobody
    const ofNodes = counts.filter((one) => one.lane === lane && one.field !== 'count')
    const actual = {
      n: byFunction.get(fn) ?? 0,
      c: byQueue.get(queue) ?? 0,
      // Native workers have left.
      count: ofNodes.reduce((sum, one) => sum + one.workers, 0),
    }[field === 'count' ? 'count' : (kind as 'n' | 'c')]
    if (counted !== actual) found.push(`${lane}: ${field} says ${counted} workers of ${actual}`)
  }
  for (const [node, { byFunction }] of workers) {
    for (const fn of byFunction.keys()) {
      const isKnown = counts.some(({ lane, field }) => lane === fn && field === `n:${node}`)
      if (!isKnown) found.push(`${fn}: no count of its workers of ${node}`)
    }
  }
  return found
}

const nobody: Connected = { byFunction: new Map(), byQueue: new Map() }
