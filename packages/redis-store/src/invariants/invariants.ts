import { LaneNames, type Band, type Level } from '@crossgear/core-scheduler'
import type { Connection } from '../connection/connection.ts'
import { StoreKeys } from '../keys.ts'
import {
  jidViolations,
  laneViolations,
  type LaneFacts,
  type TurnEntry,
  type TurnFacts,
} from './invariant-rules.ts'

export { jobFields } from '../jobs/job-fields.ts'

export interface InvariantOptions {
  readonly keys?: StoreKeys
  /** Home queues of functions. `default` for all. */
  readonly names?: LaneNames
  /**
   * Native programs use this store: hints that they cannot keep (jobs per level, indexes of lanes
   * with native jobs only) are not checked. False.
   */
  readonly native?: boolean
  /** Also reports idle jobs of native clients that are in no queue. False. */
  readonly strays?: boolean
  /** Looks at these lanes alone. All. */
  readonly only?: ReadonlySet<string>
}

/** Levels with a list outside their band's. */
const unusualLevels = [9, 7, 6, 4, 3, 1] as const satisfies Level[]

const readFields = ['status', 'door', 'token', 'level', 'settled', 'jid', 'turn'] as const

/** Keys read per round trip. */
const batchSize = 500

/** Lanes read at once. */
const lanesAtOnce = 50

/**
 * Checks a live store for violations, one line each: ids without a job, unfinished jobs in no or several places, wrong
 * statuses, counts and indexes. Not atomic: run it while nobody writes. Scans all keys.
 */
export async function checkInvariants(
  redis: Connection,
  options: InvariantOptions = {},
): Promise<string[]> {
  const {
    keys = new StoreKeys(redis.isCluster),
    names = new LaneNames(),
    native = false,
    strays = false,
    only,
  } = options
  const lanes = await readLanes(redis, keys, only)
  const due = await readScores(redis, keys.due)
  const paused = new Set(await redis.smembers(keys.pausedFunctions))
  const found = jidViolations(lanes, await readJids(redis, keys)).filter(
    (line) => only?.has(line.slice(0, line.indexOf(': '))) ?? true,
  )
  for (const facts of lanes) {
    found.push(...laneViolations(facts, { native, strays }))
    const { fn, queue } = names.parse(facts.lane)
    const ready = await redis.zscore(keys.ready(queue), facts.lane)
    // A consumer's claim takes a paused lane out of the index, and a gateway puts it back when it is resumed.
    const isPaused = paused.has(fn) || paused.has(facts.lane)
    const isMissing = facts.queued > 0 && ready === null && !isPaused
    const isTheirs = native && facts.queuedAllNative
    if (isMissing && !isTheirs && isSurelyOpen(facts, native)) {
      found.push(`${facts.lane}: has queued jobs and is not in the ready index`)
    }
    const next = Math.min(...facts.scheduledAtMs.values())
    const indexed = due.get(facts.lane)
    const isTheirTime = native && facts.scheduledAllNative
    if (next !== Infinity && !isTheirTime && (indexed === undefined || indexed > Math.ceil(next))) {
      found.push(`${facts.lane}: its next scheduled job is due before what the due index says`)
    }
  }
  return found
}

/** A lane closed by workers and not looked at since may or may not be in the index. */
function isSurelyOpen({ meta, count }: LaneFacts, native: boolean): boolean {
  const { open, closed, consumers } = meta
  if (open !== undefined) return open === '1'
  if (closed !== undefined || (native && count !== null)) return false
  return Number(count ?? 0) - Number(consumers ?? 0) <= 0
}

async function readLanes(
  redis: Connection,
  keys: StoreKeys,
  only?: ReadonlySet<string>,
): Promise<LaneFacts[]> {
  const numbers = new Map(Object.entries(await redis.hgetall(keys.lanes)))
  const names = new Set(numbers.keys())
  const jobs = new Map<string, string[]>()
  const placeOf = placesIn(keys)
  for (const key of await scan(redis)) {
    const place = placeOf(key)
    if (!place) continue
    names.add(place.lane)
    if (place.id === undefined) continue
    const ids = jobs.get(place.lane)
    if (ids) ids.push(place.id)
    else jobs.set(place.lane, [place.id])
  }
  const facts: LaneFacts[] = []
  const lanes = [...names].filter((lane) => only?.has(lane) ?? true).sort()
  for (let at = 0; at < lanes.length; at += lanesAtOnce) {
    const some = lanes.slice(at, at + lanesAtOnce)
    const reads = some.map((lane) => readLane(redis, keys, lane, jobs.get(lane) ?? []))
    for (const read of await Promise.all(reads)) {
      facts.push({ ...read, registered: numbers.get(read.lane) })
    }
  }
  return facts
}

/** All that stands in a lane, asked for at once. */
async function readLane(
  redis: Connection,
  keys: StoreKeys,
  lane: string,
  hashes: readonly string[],
): Promise<Omit<LaneFacts, 'registered'>> {
  const list = (band: Band): Promise<string[]> => redis.lrange(keys.queue(lane, band), 0, -1)
  const [
    high,
    normal,
    low,
    scheduled,
    busy,
    dead,
    unique,
    jids,
    meta,
    count,
    jobs,
    turns,
    ...lists
  ] = await Promise.all([
    list('high'),
    list('normal'),
    list('low'),
    readScores(redis, keys.queue(lane, 'scheduled')),
    readScores(redis, keys.busy(lane)),
    readScores(redis, keys.dead(lane)),
    redis.hvals(keys.unique(lane)),
    redis.hvals(keys.jid(lane)),
    redis.hgetall(keys.meta(lane)),
    redis.get(keys.count(lane)),
    readJobs(redis, keys, lane, hashes),
    readTurns(redis, keys, lane),
    ...unusualLevels.map((level) => redis.lrange(keys.level(lane, level), 0, -1)),
  ])
  const aside = new Map(unusualLevels.map((level, at) => [level, lists[at] ?? []] as const))
  const isNative = (id: string): boolean => jobs.get(id)?.['door'] === undefined
  const queued = [...high, ...normal, ...low, ...[...aside.values()].flat()]
  return {
    lane,
    jobs,
    bands: { high, normal, low },
    aside,
    scheduledAtMs: new Map([...scheduled].map(([id, seconds]) => [id, seconds * 1000])),
    turns,
    busy: [...busy.keys()],
    dead: [...dead.keys()],
    unique,
    jids,
    meta,
    count,
    queued: queued.length,
    queuedAllNative: queued.every(isNative),
    scheduledAllNative: [...scheduled.keys()].every(isNative),
  }
}

/** Jobs of a lane that take turns. */
async function readTurns(redis: Connection, keys: StoreKeys, lane: string): Promise<TurnFacts> {
  const [holders, waiting, running, due] = await Promise.all([
    redis.hgetall(keys.turnHolders(lane)),
    redis.zrange(keys.turnWaiting(lane), '0', '-1'),
    redis.zrange(keys.turnRunning(lane), '0', '-1'),
    redis.zrange(keys.turnDue(lane), '0', '-1'),
  ])
  // The limits stand under names that begin with NUL.
  const ofValues = Object.entries(holders).filter(([value]) => !value.startsWith('\0'))
  return {
    holders: new Map(ofValues),
    waiting: waiting.map(entryOf),
    running: running.map(entryOf),
    due,
  }
}

/** The value and the id, which stand first and last. */
function entryOf(member: string): TurnEntry {
  const words = member.split('\0')
  return { value: words[0] ?? '', id: words.at(-1) ?? '' }
}

/** The fields of jobs that the rules look at, by id. */
async function readJobs(
  redis: Connection,
  keys: StoreKeys,
  lane: string,
  hashes: readonly string[],
): Promise<LaneFacts['jobs']> {
  const jobs = new Map<string, Readonly<Record<string, string>>>()
  for (let at = 0; at < hashes.length; at += batchSize) {
    const ids = hashes.slice(at, at + batchSize)
    const pipeline = redis.pipeline()
    for (const id of ids) {
      pipeline.hmget(keys.job(lane, id), ...readFields).exists(keys.job(lane, id))
    }
    const replies = (await pipeline.exec()) ?? []
    for (const [place, id] of ids.entries()) {
      // Results expire after their key was listed.
      if (replies[2 * place + 1]?.[1] === 0) continue
      const values = (replies[2 * place]?.[1] ?? []) as (string | null)[]
      jobs.set(id, fieldsOf(values))
    }
  }
  return jobs
}

function fieldsOf(values: readonly (string | null)[]): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [at, name] of readFields.entries()) {
    const value = values[at]
    if (typeof value === 'string') fields[name] = value
  }
  return fields
}

/** The index of jids, with all its slots. */
async function readJids(redis: Connection, keys: StoreKeys): Promise<ReadonlyMap<string, string>> {
  const slots = await Promise.all(keys.allJids().map((key) => redis.hgetall(key)))
  return new Map(slots.flatMap((slot) => Object.entries(slot)))
}

async function readScores(redis: Connection, key: string): Promise<Map<string, number>> {
  const pairs = await redis.zrange(key, '0', '-1', 'WITHSCORES')
  const scores = new Map<string, number>()
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    scores.set(pairs[at] ?? '', Number(pairs[at + 1]?.replace('inf', 'Infinity')))
  }
  return scores
}

async function scan(redis: Connection): Promise<string[]> {
  const found: string[] = []
  for (const server of 'nodes' in redis ? redis.nodes('master') : [redis]) {
    let cursor = '0'
    do {
      const [next, some] = await server.scan(cursor, 'COUNT', 1_000)
      found.push(...some)
      cursor = next
    } while (cursor !== '0')
  }
  return [...new Set(found)]
}

/** Finds the lane and job of a key; undefined for other programs' keys. */
function placesIn(keys: StoreKeys): (key: string) => { lane: string; id?: string } | undefined {
  const name = `${escape(keys.open)}(.+)${escape(keys.close)}`
  const job = new RegExp(`^job:${name}:(\\d+)$`, 's')
  const queue = new RegExp(`^queue:${name}:(?:high|normal|low|scheduled)$`, 's')
  const turns = new RegExp(`^xg:turns:${name}:(?:waiting|running)$`, 's')
  const kinds = 'count|xg:busy|xg:dead|xg:unique|xg:jid|xg:lane|xg:turn-holders|xg:turn-due'
  const other = new RegExp(`^(?:${kinds}):${name}$`, 's')
  return (key) => {
    const [, owner, id] = job.exec(key) ?? []
    if (owner !== undefined && id !== undefined) return { lane: owner, id }
    const lane = (queue.exec(key) ?? turns.exec(key) ?? other.exec(key))?.[1]
    return lane === undefined ? undefined : { lane }
  }
}

function escape(brace: string): string {
  return brace && `\\${brace}`
}
