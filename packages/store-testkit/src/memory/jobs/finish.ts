import { noteDeadline } from '../lanes/deadlines.ts'
import {
  isAutomatic,
  jobEnds,
  type JobEvent,
  type Loss,
  type Outcome,
  type Settled,
  type Status,
  storeDefaults,
} from '@crossgear/core-scheduler'
import { isForeground, type MemoryJob } from '../memory-job.ts'
import type { MemoryLane } from '../memory-lane.ts'
import { tellOfDeath } from './push-job.ts'
import { notifyOfRoom } from './throttles.ts'
import { releaseDependencies, type RunEnd } from './dependencies.ts'
import type { MemoryWorld } from '../memory-world.ts'
import { turnsOf } from './turns.ts'

/** Ends or interrupts one lease, and passes on the turn of its job. */
export function finishJob(
  world: MemoryWorld,
  node: string,
  lane: MemoryLane,
  outcome: Outcome,
): Settled {
  const turns = turnsOf(world, lane)
  const job = turns && lane.job(outcome.id, world.nowMs())
  const settled = endLease(world, node, lane, outcome)
  if (!turns || !job || settled === 'unknown' || settled === 'wanted') return settled
  if (turns.finish(job)) {
    world.wake(lane.lane)
  }
  return settled
}

function endLease(world: MemoryWorld, node: string, lane: MemoryLane, outcome: Outcome): Settled {
  const job = lane.job(outcome.id, world.nowMs())
  if (!job || !isHeld(job, outcome.token)) return 'unknown'
  if (outcome.kind === 'complete' && outcome.withheld) {
    const isKept = job.door === 'native' || (job.terms?.retentionSeconds ?? 0) > 0
    if (isKept || job.waiting.some((waiting) => waiting !== node)) return 'wanted'
  }
  // A native worker publishes `finish` once it has set how long the hash stays.
  job.isAnnounced = outcome.token === 'native' && job.expiresAtMs !== undefined
  lane.busy.delete(job.id)
  notifyOfRoom(world, lane)
  switch (outcome.kind) {
    case 'complete':
      lane.counters.completed += 1
      endJob(world, node, lane, job, 'success', outcome.output)
      return 'done'
    case 'fail':
      job.isException = outcome.isException ?? false
      return failJob(world, node, lane, job, outcome)
    case 'retry':
      lane.counters.retried += 1
      job.output = Buffer.from(outcome.message)
      job.failure = outcome.failure
      job.expiresAtMs = undefined
      releaseDependencies(world, lane, job, 'retried')
      if (isAutomatic(outcome.token) && job.door !== 'faktory') lane.bridged.add(job.id)
      interrupt(job)
      lane.scheduled.set(job.id, world.nowMs() + outcome.delayMs)
      return 'done'
    case 'dead':
      return failJob(world, node, lane, job, outcome)
    case 'requeue':
      return release(world, node, lane, job, outcome.lost ? outcome : undefined)
    case 'requeueFront':
      return giveBack(world, lane, job)
  }
}

/**
 * Fails a job for good: a background job goes to the dead set if a failure is given. `as`: how it is
 * counted if it does not. failed.
 */
export function failJob(
  world: MemoryWorld,
  node: string,
  lane: MemoryLane,
  job: MemoryJob,
  { message, failure }: { readonly message: Uint8Array; readonly failure?: string },
  as: 'failed' | 'expired' | 'lost' = 'failed',
): 'done' | 'expired' | 'lost' | 'died' {
  if (failure === undefined || isForeground(job)) {
    lane.counters[as] += 1
    endJob(world, node, lane, job, 'error', message, 'failed')
    return as === 'failed' ? 'done' : as
  }
  job.output = Buffer.from(message)
  job.failure = failure
  buryJob(world, node, lane, job, 'died')
  return 'died'
}

/** Puts a leased job back to the end of its level. */
export function putBack(world: MemoryWorld, lane: MemoryLane, job: MemoryJob): void {
  lane.busy.delete(job.id)
  interrupt(job)
  world.arrive(job)
  lane.enqueue(job)
}

/** The other nodes with clients that wait for the job, each once. */
export function others(job: MemoryJob, node: string): ReadonlySet<string> {
  return new Set(job.waiting.filter((other) => other !== node))
}

function isHeld(job: MemoryJob, token: string): boolean {
  return token === 'native' ? isUnsettled(job) : job.token === token
}

/** True for another door's job that a native worker finished and nobody settled. */
export function isUnsettled({ door, token, settled, status }: MemoryJob): boolean {
  const isFinal = status === 'success' || status === 'error'
  return door !== 'native' && token === undefined && !settled && isFinal
}

function interrupt(job: MemoryJob): void {
  job.status = 'idle'
  job.settled = false
  job.token = undefined
  job.dividend = undefined
  job.divisor = undefined
}

/** Ends a job that is in no place. `minSeconds`: it is kept so long. */
export function endJob(
  world: MemoryWorld,
  node: string,
  lane: MemoryLane,
  job: MemoryJob,
  status: Status,
  output: Uint8Array,
  how: RunEnd = status === 'success' ? 'success' : 'dropped',
  minSeconds = 0,
): void {
  const isNative = job.door === 'native'
  lane.forgetIndexes(job)
  releaseDependencies(world, lane, job, how)
  const isRelayed = status === 'success' && output.length <= jobEnds.maxRelayed
  const event = isRelayed ? { kind: 'complete' as const, output } : 'finish'
  const elsewhere = notifyWaiting(world, node, lane, job, event)
  const seconds = isNative ? jobEnds.nativeRetention : (job.terms?.retentionSeconds ?? 0)
  const keepSeconds = Math.max(seconds, elsewhere ? jobEnds.relaySeconds : minSeconds)
  if (keepSeconds > 0) {
    job.status = status
    job.output = Buffer.from(output)
    job.settled = true
    job.token = undefined
    job.expiresAtMs = world.nowMs() + keepSeconds * 1000
  } else {
    lane.delete(job.id)
  }
  if (!job.isAnnounced) world.publish(lane.lane, 'finish', job.id)
  if (isNative) lane.releaseLock(job.id)
}

/** Moves a job to the dead set. `as`: it died, or an operator killed it. */
export function buryJob(
  world: MemoryWorld,
  node: string,
  lane: MemoryLane,
  job: MemoryJob,
  as: 'died' | 'killed',
): void {
  lane.counters[as] += 1
  releaseDependencies(world, lane, job, 'failed')
  job.status = 'error'
  job.settled = true
  job.token = undefined
  job.expiresAtMs = undefined
  notifyWaiting(world, node, lane, job, 'finish')
  job.waiting = []
  lane.forgetUnique(job)
  const { deadPerLane, deadSeconds } = { ...storeDefaults, ...world.options }
  job.forgottenAtMs = world.nowMs() + deadSeconds * 1000
  lane.dead.push(job.id)
  tellOfDeath(world, lane, job)
  noteDeadline(world, lane)
  const surplus = lane.dead.length - deadPerLane
  if (surplus > 0) forget(world, lane, lane.dead.slice(0, surplus))
  if (!job.isAnnounced) world.publish(lane.lane, 'finish', job.id)
  if (job.door === 'native') lane.releaseLock(job.id)
}

/** Drops dead jobs whose time is up. */
export function forgetDead(world: MemoryWorld, lane: MemoryLane): void {
  const nowMs = world.nowMs()
  const over = lane.dead.filter((id) => (lane.job(id, nowMs)?.forgottenAtMs ?? nowMs) <= nowMs)
  forget(world, lane, over)
}

function forget(world: MemoryWorld, lane: MemoryLane, ids: readonly number[]): void {
  lane.counters.forgotten += ids.length
  lane.counters.failed += ids.length
  for (const id of ids) {
    lane.dead.splice(lane.dead.indexOf(id), 1)
    const job = lane.job(id, world.nowMs())
    if (job) lane.forgetIndexes(job)
    lane.delete(id)
  }
}

/**
 * Requeues the job of a worker that gave up or was lost; ends it if nobody wants it or too many
 * were lost.
 */
export function release(
  world: MemoryWorld,
  node: string,
  lane: MemoryLane,
  job: MemoryJob,
  loss: Loss | undefined,
): Settled {
  lane.busy.delete(job.id)
  if (loss) job.losses += 1
  const isAbandoned = isForeground(job) && job.waiting.length === 0
  const isGivenUp = loss && loss.maxLosses > 0 && job.losses >= loss.maxLosses
  if (isAbandoned || isGivenUp) {
    const end = { message: Buffer.alloc(0), ...loss }
    return failJob(world, node, lane, job, end, isAbandoned ? 'expired' : 'lost')
  }
  putBack(world, lane, job)
  world.wake(lane.lane)
  return 'requeued'
}

function giveBack(world: MemoryWorld, lane: MemoryLane, job: MemoryJob): Settled {
  interrupt(job)
  lane.requeue(job)
  world.wake(lane.lane)
  return 'requeued'
}

function notifyWaiting(
  world: MemoryWorld,
  node: string,
  { lane }: MemoryLane,
  job: MemoryJob,
  event: JobEvent | 'finish',
): boolean {
  const nodes = others(job, node)
  world.notify(
    (subscriber) => nodes.has(subscriber.node),
    (listener) => listener.relayed({ lane, id: job.id }, event),
  )
  return nodes.size > 0
}
