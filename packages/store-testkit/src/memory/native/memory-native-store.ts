import {
  bands,
  jobEnds,
  type JobRef,
  type NativeStore,
  type Repair,
  type RepairRequest,
  type SurveyPage,
} from '@crossgear/core-scheduler'
import { endJob, failJob, isUnsettled } from '../jobs/finish.ts'
import type { MemoryJob } from '../memory-job.ts'
import type { MemoryLane } from '../memory-lane.ts'
import type { MemoryWorld } from '../memory-world.ts'
import { MemoryPart } from '../memory-part.ts'

/** Repairs in a {@link MemoryWorld} for work of native programs that no node saw. */
export class MemoryNativeStore extends MemoryPart implements NativeStore {
  holdLeadership(forMs: number): Promise<boolean> {
    return this.step((world) => {
      const { leader } = world
      const isFree = !leader || leader.untilMs <= world.nowMs()
      if (!isFree && leader.node !== this.node) return false
      world.leader = { node: this.node, untilMs: world.nowMs() + forMs }
      return forMs > 0
    })
  }

  workedLanes(lanes: readonly string[], remember: boolean): Promise<readonly string[]> {
    return this.step((world) => {
      for (const name of remember ? lanes : []) watchLine(world, world.lane(name))
      return lanes.filter((name) => world.lane(name).nativeWorkers > 0)
    })
  }

  unsettled(lane: string, ids: readonly number[]): Promise<readonly number[]> {
    return this.step((world) => ids.filter((id) => isUnsettledIn(world, world.lane(lane), id)))
  }

  sweep(name: string): Promise<{ readonly ids: readonly number[]; readonly next: undefined }> {
    return this.step((world) => {
      const lane = world.lane(name)
      for (const index of [lane.unique, lane.jids]) {
        for (const [key, id] of index) if (!lane.job(id, world.nowMs())) index.delete(key)
      }
      const ids = new Set([...lane.unique.values(), ...lane.jids.values()])
      return { ids: [...ids].filter((id) => isUnsettledIn(world, lane, id)), next: undefined }
    })
  }

  /** The hashes that {@link sweep} reads contain the jids as well. */
  sweepJids(): Promise<{ readonly refs: readonly JobRef[]; readonly next: undefined }> {
    return this.step(() => ({ refs: [], next: undefined }))
  }

  survey(remember: boolean): Promise<SurveyPage> {
    return this.step((world) => {
      let jobs = 0
      const unsettled: JobRef[] = []
      const suspicious: string[] = []
      for (const lane of world.lanes) {
        for (const { id } of lane.all()) {
          jobs += 1
          if (isUnsettledIn(world, lane, id)) unsettled.push({ lane: lane.lane, id })
          else mendTime(world, lane, id)
        }
        if (remember && addCandidates(world, lane)) suspicious.push(lane.lane)
      }
      return { jobs, unsettled, suspicious, lapEnded: true }
    })
  }

  repair(lanes: readonly string[], request: RepairRequest): Promise<readonly Repair[]> {
    return this.step((world) =>
      lanes.flatMap((name) => {
        const lane = world.lane(name)
        return [
          ...repairJobs(world, this.node, lane, request),
          ...repairCounts(world, lane, request),
        ]
      }),
    )
  }
}

function isUnsettledIn(world: MemoryWorld, lane: MemoryLane, id: number): boolean {
  const job = lane.job(id, world.nowMs())
  return job !== undefined && isUnsettled(job)
}

/** Completes the job of a native worker that died, or was slow, between two steps of finishing. */
function mendTime(world: MemoryWorld, lane: MemoryLane, id: number): void {
  const job = lane.job(id, world.nowMs())
  if (!job) return
  const isOver = job.status === 'success' || job.status === 'error'
  if (job.door !== 'native') {
    if (!isOver || lane.dead.includes(id)) job.expiresAtMs = undefined
  } else if (isOver && !job.settled && job.token === undefined) {
    if (job.expiresAtMs !== undefined) return
    job.expiresAtMs = world.nowMs() + jobEnds.nativeRetention * 1000
    world.notifyWatchers(lane.lane, (listener) => listener.finished(lane.lane, id))
    lane.releaseLock(id)
  }
}

/** Describes a job to which nothing happens; undefined for one that is where it should be. */
function signOf(lane: MemoryLane, job: MemoryJob): string | undefined {
  if (job.token !== undefined) return undefined
  if (job.status === 'busy') {
    return `busy ${job.id} ${String(job.dividend)}/${String(job.divisor)}`
  }
  if (job.status !== 'idle' || lane.scheduled.has(job.id)) return undefined
  const isQueued = bands.some((band) => lane.queues[band].includes(job.id))
  return isQueued ? undefined : `stray ${job.id} ${job.enqueuedAtMs}`
}

/** Notes possible orphans, and ends jobs that were cleared; true if there are any. */
function addCandidates(world: MemoryWorld, lane: MemoryLane): boolean {
  let isSuspicious = false
  for (const job of [...lane.all()]) {
    const sign = signOf(lane, job)
    if (sign === undefined) continue
    if (job.id <= lane.clearedTo) {
      endJob(world, '', lane, job, 'error', Buffer.alloc(0))
      continue
    }
    isSuspicious = true
    if (!lane.repairCandidates.has(sign)) lane.repairCandidates.set(sign, world.nowMs())
  }
  return isSuspicious
}

function repairJobs(
  world: MemoryWorld,
  node: string,
  lane: MemoryLane,
  { leaseMs, mends, max, maxLosses, failure }: RepairRequest,
): Repair[] {
  const repairs: Repair[] = []
  for (const [sign, sinceMs] of [...lane.repairCandidates]) {
    if (sinceMs > world.nowMs() - leaseMs || repairs.length >= max) continue
    const [kind, id] = sign.split(' ')
    const job = lane.job(Number(id), world.nowMs())
    lane.repairCandidates.delete(sign)
    if (!job || signOf(lane, job) !== sign) continue
    const isBusy = kind === 'busy'
    const isLeft = isBusy && mends === 'strays'
    const reported = { kind: isBusy ? 'busy' : 'stray', lane: lane.lane, id: job.id } as const
    repairs.push(isLeft ? { ...reported, left: true } : reported)
    if (isLeft) lane.forgetUnique(job)
    if (isLeft || mends === 'nothing') lane.repairCandidates.set(sign, world.nowMs())
    else putRight(world, node, lane, job, isBusy, { maxLosses, failure })
  }
  return repairs
}

function putRight(
  world: MemoryWorld,
  node: string,
  lane: MemoryLane,
  job: MemoryJob,
  lost: boolean,
  { maxLosses, failure }: Pick<RepairRequest, 'maxLosses' | 'failure'>,
): void {
  if (lost) job.losses += 1
  if (lost && maxLosses > 0 && job.losses >= maxLosses) {
    failJob(world, node, lane, job, { message: Buffer.alloc(0), failure }, 'lost')
    return
  }
  job.status = 'idle'
  job.dividend = undefined
  job.divisor = undefined
  world.arrive(job)
  lane.enqueue(job)
  world.wake(lane.lane)
}

function lineSign(lane: MemoryLane): string | undefined {
  if (lane.nativeWorkers < 0) return '0'
  return lane.nativeWorkers === 0 ? undefined : lane.head()?.id.toString()
}

function watchLine(world: MemoryWorld, lane: MemoryLane): void {
  const sign = lineSign(lane)
  if (sign === undefined) lane.line = undefined
  else if (lane.line?.sign !== sign) lane.line = { sign, sinceMs: world.nowMs() }
}

function repairCounts(
  world: MemoryWorld,
  lane: MemoryLane,
  { leaseMs, mends }: RepairRequest,
): Repair[] {
  const { line } = lane
  const dry = mends === 'nothing'
  if (mends === 'strays' || !line || lineSign(lane) !== line.sign) return []
  const isSure = line.sign === '0' && !dry
  if (!isSure && line.sinceMs > world.nowMs() - leaseMs) return []
  const isBusy = [...lane.repairCandidates.keys()].some((sign) => sign.startsWith('busy'))
  if (isBusy && line.sign !== '0') return []
  lane.line = dry ? { ...line, sinceMs: world.nowMs() } : undefined
  if (!dry) {
    lane.nativeWorkers = 0
    world.wake(lane.lane)
  }
  return [{ kind: 'count', lane: lane.lane, id: Number(line.sign) }]
}
