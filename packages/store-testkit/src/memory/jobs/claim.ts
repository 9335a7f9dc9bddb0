import {
  bandLevel,
  storeDefaults,
  type Band,
  type ClaimRequest,
  type LaneAccess,
  type Level,
  type Lease,
} from '@crossgear/core-scheduler'
import { endStale, isStale } from './stale.ts'
import { isForeground, isSettled, jobOf, type MemoryJob } from '../memory-job.ts'
import { type MemoryLane } from '../memory-lane.ts'
import { hasRoom, isLimited, isThrottled, noteStart } from './throttles.ts'
import { unlock } from './dependencies.ts'
import { turnsOf } from './turns.ts'
import type { MemoryWorld } from '../memory-world.ts'

interface Head {
  readonly lane: MemoryLane
  readonly band: Band
  readonly job: MemoryJob
}

interface Group {
  readonly leaseMs: number | undefined
  /** Lanes that it may take from. */
  readonly open: readonly MemoryLane[]
}

/** Leases jobs, group after group or by level. `token` names the next lease. */
export function claimJobs(
  world: MemoryWorld,
  {
    by,
    access = 'auto',
    groups,
    byLevel = false,
    max: asked,
    prefetch = 0,
    throttled,
    dropped,
    emptied,
    worker = '',
    paused,
  }: ClaimRequest,
  token: () => string,
): Lease[] {
  const claimed: Lease[] = []
  const max = groups.some((group) => isThrottled(world, group)) ? asked : asked + prefetch
  const heldBack = new Map<string, number>()
  const mayTake = (lane: MemoryLane): boolean =>
    (claimed.length < asked || !isLimited(world, lane)) && hasRoom(world, lane, worker, heldBack)
  const inTurn: Group[] = groups.map(({ lanes, leaseMs }) => ({
    leaseMs,
    open: lanes
      .filter((name) => !paused?.has(name))
      .map((name) => world.lane(name))
      .filter((lane) => letterFor(world, lane, by, access) !== undefined),
  }))
  while (claimed.length < max) {
    const next = nextOf(world, inTurn, byLevel, mayTake)
    if (!next) break
    const { group, head } = next
    if (byLevel) inTurn.push(...inTurn.splice(inTurn.indexOf(group), 1))
    const { lane, band, job } = head
    lane.queues[band].shift()
    const turns = turnsOf(world, lane)
    if (turns?.mustWait(job)) continue
    if (isSettled(job)) {
      turns?.pass(job)
      continue
    }
    if (isForeground(job) && job.waiting.length === 0) {
      lane.forgetIndexes(job)
      lane.delete(job.id)
      lane.counters.expired += 1
      turns?.pass(job)
      dropped?.({ lane: lane.lane, id: job.id, door: job.door, how: 'expired' })
      continue
    }
    if (isStale(world, job)) {
      const ended = endStale(world, lane, job)
      turns?.pass(job)
      dropped?.(ended)
      continue
    }
    if (job.terms?.lock?.until === 'start') unlock(lane, job)
    noteStart(world, lane)
    const letter = letterFor(world, lane, by, access) ?? 'c'
    head.job.takenAtMs = world.nowMs()
    head.job.takenBy = worker
    const lease = reserve(world, by, head, group.leaseMs, letter + token())
    job.heldAhead = by === 'consumer' && claimed.length >= asked ? lease.token : undefined
    claimed.push(lease)
    turns?.start(job)
    turns?.pass(job)
  }
  for (const [queue, waitMs] of heldBack) throttled?.(queue, waitMs)
  const left = groups.flatMap(({ lanes }) => lanes).filter((name) => world.lane(name).queued > 0)
  if (by === 'named' && left.length === 0) emptied?.()
  return claimed
}

/**
 * The first letter of a lease's token, see holderOf; undefined if the lane is closed to this
 * worker.
 */
function letterFor(
  world: MemoryWorld,
  lane: MemoryLane,
  by: ClaimRequest['by'],
  access: LaneAccess,
): string | undefined {
  if (by === 'named') return 'n'
  if (access === 'any') return 'c'
  const openness = lane.openness(world.nowMs())
  if (openness === 'open') return 'c'
  return openness === 'auto' && access === 'auto' ? 'a' : undefined
}

function reserve(
  world: MemoryWorld,
  by: ClaimRequest['by'],
  { lane, band, job }: Head,
  leaseMs: number | undefined,
  token: string,
): Lease {
  const nowMs = world.nowMs()
  const waitedMs = job.enqueuedAtMs === undefined ? undefined : nowMs - job.enqueuedAtMs
  // A native job has the level of the band it was pushed to; it goes back there.
  if (job.level === undefined && band !== 'normal') job.level = bandLevel[band]
  const before = jobOf(lane.lane, job)
  job.status = 'busy'
  job.token = token
  const { reserveForSeconds: ownSeconds, isTimed } = job.terms ?? {}
  const consumerSeconds =
    ownSeconds ?? world.options.reserveForSeconds ?? storeDefaults.reserveForSeconds
  const ownMs = by === 'consumer' || isTimed ? consumerSeconds * 1000 : Infinity
  const heldForMs = by === 'named' ? Math.min(leaseMs ?? Infinity, ownMs) : (leaseMs ?? ownMs)
  lane.busy.set(job.id, nowMs + heldForMs)
  world.publish(lane.lane, 'start', job.id)
  return { ...before, token, heldBy: by, ...(waitedMs === undefined ? {} : { waitedMs }) }
}

/** The first group with a job; by level, the first one with a next job of the highest level. */
function nextOf(
  world: MemoryWorld,
  groups: readonly Group[],
  byLevel: boolean,
  mayTake: (lane: MemoryLane) => boolean,
): { readonly group: Group; readonly head: Head } | undefined {
  let next: { readonly group: Group; readonly head: Head } | undefined
  for (const group of groups) {
    const head = bestOf(world, group.open.filter(mayTake))
    if (head && (!next || levelOf(head) > levelOf(next.head))) next = { group, head }
    if (next && !byLevel) break
  }
  return next
}

function levelOf({ job, band }: Head): Level {
  return job.level ?? bandLevel[band]
}

/** The best of all heads: highest level, then the oldest. Ids without a record are dropped. */
function bestOf(world: MemoryWorld, lanes: readonly MemoryLane[]): Head | undefined {
  let best: Head | undefined
  for (const lane of lanes) {
    const head = headOf(world, lane)
    if (head && (!best || isBefore(head, best))) best = head
  }
  return best
}

/** A job that no gateway queued is as old as the first look at its lane that could have seen it. */
function seenSince(world: MemoryWorld, lane: MemoryLane, { id }: MemoryJob): number {
  if (id > lane.seen.upTo) lane.seen = { upTo: lane.lastId, atMs: world.nowMs() }
  return lane.seen.atMs
}

export function headOf(world: MemoryWorld, lane: MemoryLane): Head | undefined {
  for (let head = lane.head(); head; head = lane.head()) {
    const job = lane.job(head.id, world.nowMs())
    if (job) {
      if (job.enqueuedAtMs === undefined) world.arrive(job, seenSince(world, lane, job))
      return { lane, band: head.band, job }
    }
    lane.queues[head.band].shift()
  }
  return undefined
}

function isBefore(one: Head, other: Head): boolean {
  const higher = levelOf(other) - levelOf(one)
  const older = (one.job.enqueuedAtMs ?? 0) - (other.job.enqueuedAtMs ?? 0)
  return (higher || older || (one.job.arrival ?? 0) - (other.job.arrival ?? 0)) < 0
}
