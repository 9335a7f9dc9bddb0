import {
  holderOf,
  jobEnds,
  type HeldRef,
  type DroppedJob,
  type JobEvent,
  type LeasedJob,
  type LeasedRef,
  type Loss,
  type Report,
  type StepReport,
} from '@crossgear/core-scheduler'
import { others, release } from '../jobs/finish.ts'
import { turnsOf } from '../jobs/turns.ts'
import { type MemoryJob, stateOf } from '../memory-job.ts'
import { type MemoryLane } from '../memory-lane.ts'
import type { MemoryWorld } from '../memory-world.ts'

/** Takes a running job's report; false if the token is not its own. */
export function takeReport(
  world: MemoryWorld,
  node: string,
  lane: MemoryLane,
  report: StepReport,
): boolean {
  const { id, token } = report
  const job = lane.job(id, world.nowMs())
  if (job?.token !== token) return false
  if (report.kind === 'lease') {
    const isPutOff = job.heldAhead === token || report.heldMs === Infinity
    if (isPutOff) lane.busy.set(id, (lane.busy.get(id) ?? 0) + report.heldMs)
    job.heldAhead = undefined
    return true
  }
  if (report.kind === 'status') {
    job.dividend = Buffer.from(report.dividend)
    job.divisor = Buffer.from(report.divisor)
  }
  const nodes = others(job, node)
  world.notify(
    (subscriber) => nodes.has(subscriber.node),
    (listener) => listener.relayed({ lane: lane.lane, id }, eventOf(report)),
  )
  return true
}

function eventOf(report: Report): JobEvent {
  if (report.kind !== 'status') return { kind: report.kind, data: report.data }
  const { kind, dividend, divisor } = report
  return { kind, dividend, divisor }
}

/**
 * Moves due jobs into the queues of their lanes, the earliest first; returns the number per lane.
 */
export function promoteDue(world: MemoryWorld): { readonly lane: string; readonly jobs: number }[] {
  const due = [...world.lanes].flatMap((lane) =>
    [...lane.scheduled]
      .filter(([, dueMs]) => dueMs <= world.nowMs())
      .map(([id, dueMs]) => ({ lane, id, dueMs, job: lane.job(id, world.nowMs()) })),
  )
  due.sort(
    (one, other) => one.dueMs - other.dueMs || (one.job?.arrival ?? 0) - (other.job?.arrival ?? 0),
  )
  const moved = new Map<string, number>()
  for (const { lane, id, dueMs, job } of due) {
    lane.scheduled.delete(id)
    lane.bridged.delete(id)
    if (!job) continue
    if (job.door !== 'native' || job.enqueuedAtMs !== undefined) world.arrive(job, dueMs)
    lane.counters[job.failure === undefined ? 'promoted' : 'requeued'] += 1
    lane.removedAt = undefined
    if (turnsOf(world, lane)?.arrive(job) === false) continue
    lane.enqueue(job)
    moved.set(lane.lane, (moved.get(lane.lane) ?? 0) + 1)
  }
  for (const lane of world.lanes) {
    const passed = turnsOf(world, lane)?.look() ?? 0
    if (passed > 0) moved.set(lane.lane, (moved.get(lane.lane) ?? 0) + passed)
  }
  for (const [lane, jobs] of moved) world.wake(lane, jobs)
  return [...moved].map(([lane, jobs]) => ({ lane, jobs }))
}

/** Expired leases of a lane. */
export function expiredIn(world: MemoryWorld, lane: MemoryLane, max: number): LeasedJob[] {
  const late = [...lane.busy].filter(([, deadlineMs]) => deadlineMs <= world.nowMs())
  return late.slice(0, max).flatMap(([id]) => {
    const job = lane.job(id, world.nowMs())
    if (job?.token === undefined) return []
    return [{ ...stateOf(lane.lane, job), token: job.token, heldBy: holderOf(job.token) } as const]
  })
}

/** Jobs that workers behind a node hold in a lane. */
export function heldIn(world: MemoryWorld, lane: MemoryLane, node: string): HeldRef[] {
  return [...lane.busy.keys()].flatMap((id) => {
    const token = lane.job(id, world.nowMs())?.token
    return token?.slice(1).startsWith(`${node}-`) ? [{ lane: lane.lane, id, token }] : []
  })
}

/** Nodes with worker counts in a lane, or with leases of by-name workers. */
export function nodesIn(world: MemoryWorld, lane: MemoryLane): string[] {
  const counted = [...lane.workers].filter(([, { named, consumers }]) => named + consumers > 0)
  const tokens = [...lane.busy.keys()].map((id) => lane.job(id, world.nowMs())?.token ?? '')
  const leased = tokens.map((token) => /^n(.+)-\d+$/.exec(token)?.[1] ?? '').filter(Boolean)
  return [...counted.map(([node]) => node), ...leased]
}

/** Leases of consumers behind a node. */
export function consumedIn(world: MemoryWorld, lane: MemoryLane, node: string): LeasedRef[] {
  return heldIn(world, lane, node).flatMap((held) => {
    const door = lane.job(held.id, world.nowMs())?.door
    return door && holderOf(held.token) === 'consumer' ? [{ ...held, door }] : []
  })
}

/** A node that left or died; `loss`: it died, and its jobs count as lost workers. */
interface Departure {
  readonly node: string
  readonly loss?: Loss
}

/** Forgets a node in a lane: its clients, its workers, and the jobs of its by-name workers. Returns how many were requeued. */
export function forgetNodeIn(
  world: MemoryWorld,
  lane: MemoryLane,
  { node, loss }: Departure,
  graceMs: number,
  dropped: DroppedJob[] = [],
): number {
  for (const job of lane.all()) {
    if (!job.waiting.includes(node)) continue
    job.waiting = job.waiting.filter((other) => other !== node)
    if (loss) keepOutcome(job, node)
  }
  const held = [...lane.busy.keys()].flatMap((id) => {
    const job = lane.job(id, world.nowMs())
    const { token } = job ?? {}
    const endsWithNode = token?.startsWith('n') ?? false
    const isHeld = token !== undefined && job?.heldAhead === token
    return job && token?.startsWith(`${node}-`, 1) && (endsWithNode || isHeld) ? [job] : []
  })
  if (lane.workers.get(node)?.named) lane.noteNamed(world.nowMs(), graceMs)
  lane.workers.delete(node)
  // All nodes are notified, this one too: it has clients of its own.
  let requeued = 0
  for (const job of held) {
    const { id, door } = job
    const how = release(world, '', lane, job, loss)
    if (how === 'requeued') requeued += 1
    if (how === 'expired' || how === 'lost' || how === 'died') {
      dropped.push({ lane: lane.lane, id, door, how })
    }
  }
  return requeued
}

/** A node that was only cut off asks for the outcome when it is back. */
function keepOutcome(job: MemoryJob, node: string): void {
  const { terms, waiting, token, foreground } = job
  if (!terms || (terms.retentionSeconds ?? 0) >= jobEnds.relaySeconds) return
  const runsElsewhere = token !== undefined && !token.startsWith(`${node}-`, 1)
  if (waiting.length > 0 || !foreground || runsElsewhere) {
    job.terms = { ...terms, retentionSeconds: jobEnds.relaySeconds }
  }
}
