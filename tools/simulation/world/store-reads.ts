import type { Redis } from 'ioredis'

interface Counted {
  readonly named: number
  readonly consumers: number
}

/** Workers behind each node. */
export type NodeWorkers = ReadonlyMap<string, Counted>

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

/** Worker counts of nodes: lane, kind and node, count by turns. */
const workerCounts = `
local found = {}
for _, key in ipairs(redis.call('KEYS', 'xg:lane:*')) do
  local fields = redis.call('HGETALL', key)
  for at = 1, #fields, 2 do
    if fields[at]:match('^[nc]:') then
      found[#found + 1] = key:sub(9)
      found[#found + 1] = fields[at]
      found[#found + 1] = fields[at + 1]
    end
  end
end
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

  /** By lane and node. */
  async workers(): Promise<ReadonlyMap<string, ReadonlyMap<string, Counted>>> {
    const lanes = new Map<string, Map<string, Counted>>()
    const counts = (await this.#redis.eval(workerCounts, 0)) as string[]
    for (let at = 0; at + 2 < counts.length; at += 3) {
      const [lane = '', field = '', count] = counts.slice(at, at + 3)
      const nodes = lanes.get(lane) ?? new Map<string, Counted>()
      lanes.set(lane, nodes)
      const node = field.slice(2)
      const kind = field.startsWith('n') ? 'named' : 'consumers'
      nodes.set(node, { named: 0, consumers: 0, ...nodes.get(node), [kind]: Number(count) })
    }
    return lanes
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

/** Workers that the store counts in a lane and that are not there, and nodes whose workers it counts in none. */
export function miscountsOf(
  lanes: ReadonlyMap<string, NodeWorkers>,
  workers: NodeWorkers,
): readonly string[] {
  const found: string[] = []
  const known = new Set<string>()
  for (const [lane, nodes] of lanes) {
    for (const [node, counted] of nodes) {
      if (counted.named > 0) known.add(node)
      const actual = workers.get(node) ?? { named: 0, consumers: 0 }
      for (const kind of ['named', 'consumers'] as const) {
        if (counted[kind] <= actual[kind]) continue
        found.push(`${lane}: counts ${counted[kind]} ${kind} of ${node}, which has ${actual[kind]}`)
      }
    }
  }
  for (const [node, { named }] of workers)
    if (named > 0 && !known.has(node)) found.push(`no lane counts the ${named} workers of ${node}`)
  return found
}
