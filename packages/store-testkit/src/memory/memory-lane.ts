import {
  type Band,
  bandOf,
  bands,
  defaultLevel,
  type IdleTimes,
  type LaneCounts,
  type LaneOpenness,
  type LaneTotals,
  type Level,
  type Taken,
  totalsOf,
  type WorkerCount,
} from '@crossgear/core-scheduler'
import { copyOf } from './copy-of.ts'
import { isForeground, uniqueKey, type MemoryJob } from './memory-job.ts'

export function noTotals(): Record<keyof LaneTotals, number> {
  return totalsOf(() => 0)
}

/** When jobs are due that wait for their turn, milliseconds. */
export const farMs = 1e17

/** More ids than a store can lose. */
const idsPerEpoch = 2 ** 20

/** One lane's records and the places of their ids. */
export class MemoryLane {
  readonly lane: string
  readonly #jobs = new Map<number, MemoryJob>()
  /** Next job first. */
  readonly queues: Record<Band, number[]> = { high: [], normal: [], low: [] }
  /** Retries of jobs from the automatic rule. */
  readonly bridged = new Set<number>()
  /** Due time by id, the store's milliseconds. */
  readonly scheduled = new Map<number, number>()
  /** Values of the key by which jobs take turns, and the job of each that is in line. */
  readonly turns = new Map<string, number | undefined>()
  /** Jobs that wait for their turn, by value, from `first` on; ids that were taken away are left. */
  readonly waitingTurns = new Map<string, { readonly ids: number[]; first: number }>()
  /** Deadline by id. */
  readonly busy = new Map<number, number>()
  /** Dead ids, the oldest first. */
  readonly dead: number[] = []
  readonly unique = new Map<string, number>()
  readonly jids = new Map<string, number>()
  /** The holder of each lock, and until when. */
  readonly uniqueLocks = new Map<string, { readonly id: number; readonly untilMs: number }>()
  /** The last tick of each cron entry, milliseconds. */
  readonly ticks = new Map<string, number>()
  readonly locks = new Map<number, number>()
  readonly workers = new Map<string, WorkerCount>()
  counters = noTotals()
  /** Its last id when its queue was removed. */
  removedAt: number | undefined
  limits: Readonly<Partial<Record<Band, number>>> = {}
  /** An operator or a route wants it. */
  isKept = false
  /** Opened for good, or closed by an operator. */
  isOpen: boolean | undefined
  /** By-name workers keep it closed to consumers until then, the store's milliseconds. */
  closedUntilMs = 0
  /** Jobs up to this number were cleared, those in no place as well. */
  clearedTo = 0
  nativeWorkers = 0
  /** Possible orphans of native programs, and since when, the store's milliseconds. */
  readonly repairCandidates = new Map<string, number>()
  /** The last id at the last look, and the store's milliseconds of that. */
  seen: { readonly upTo: number; readonly atMs: number } = { upTo: 0, atMs: 0 }
  line: { readonly sign: string; readonly sinceMs: number } | undefined
  #lastId = 0
  #epoch = 0
  /** Since when it is empty, and its last id by then. */
  #idle: { readonly sinceMs: number; readonly lastId: number } | undefined

  constructor(lane: string) {
    this.lane = lane
  }

  /** The lane as it is now: nothing changes it. */
  copy(): MemoryLane {
    const fields = copyOf(Object.fromEntries(Object.entries(this)))
    const copy = Object.assign(new MemoryLane(this.lane), fields)
    for (const [id, job] of this.#jobs) copy.#jobs.set(id, copyOf(job))
    copy.#lastId = this.#lastId
    copy.#epoch = this.#epoch
    copy.#idle = this.#idle
    return copy
  }

  get lastId(): number {
    return this.#lastId
  }

  set lastId(id: number) {
    this.#lastId = id
  }

  /** True if so many ids more are integers from 1 to 2^53 - 1. */
  hasIds(count: number): boolean {
    return this.#lastId >= 0 && this.#lastId <= Number.MAX_SAFE_INTEGER - count
  }

  nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  /** Skips ids that a lost end of the store's data may have had. */
  begin(epoch: number): void {
    if (epoch <= this.#epoch) return
    this.#lastId += (epoch - this.#epoch) * idsPerEpoch
    this.#epoch = epoch
  }

  /** True if the lane has been empty for long enough. */
  isOver(nowMs: number, idle: IdleTimes): boolean {
    const { high, normal, low } = this.queues
    const jobs = high.length + normal.length + low.length + this.scheduled.size + this.busy.size
    const held = jobs + this.dead.length + this.unique.size + this.jids.size
    const hasWorkers = this.byName + this.consumers.labelled > 0
    const isLimited = Object.values(this.limits).some((limit) => limit > 0)
    if (held > 0 || hasWorkers || isLimited || this.isOpen === false) {
      this.#idle = undefined
      return false
    }
    if (this.#idle?.lastId !== this.#lastId) this.#idle = { sinceMs: nowMs, lastId: this.#lastId }
    const idleForMs = this.#idleMs(idle)
    return idleForMs === 0 || nowMs - this.#idle.sinceMs >= idleForMs
  }

  #idleMs({ unusedMs, emptiedMs, keptMs }: IdleTimes): number {
    if (this.isKept || (this.seen.upTo > 0 && this.consumers.all > 0)) return keptMs
    return this.#lastId === 0 ? unusedMs : emptiedMs
  }

  /** The lane is unregistered: its figures start again. */
  forget(): void {
    this.#idle = undefined
    this.counters = noTotals()
    this.removedAt = undefined
    this.isKept = false
    this.limits = {}
    this.seen = { upTo: 0, atMs: 0 }
    this.workers.clear()
  }

  /** Jobs that only an index names when all places are empty. */
  indexed(): number[] {
    return [...new Set([...this.unique.values(), ...this.jids.values()])]
  }

  /** Clears every job that is in no place now. */
  noteCleared(): void {
    this.clearedTo = this.#lastId
  }

  add(job: MemoryJob): void {
    this.#jobs.set(job.id, job)
  }

  job(id: number, nowMs: number): MemoryJob | undefined {
    const job = this.#jobs.get(id)
    if (job?.expiresAtMs === undefined || job.expiresAtMs > nowMs) return job
    this.#jobs.delete(id)
    return undefined
  }

  /** Counts jobs that an operator took away. */
  bookTaken(as: Taken, jobs: number): void {
    if (as !== 'withdrawn') this.counters[as] += jobs
    if (as === 'moved' || as === 'withdrawn') this.counters.submitted -= jobs
  }

  /** Releases the native client that may be blocked on its job. */
  releaseLock(id: number): void {
    this.locks.set(id, (this.locks.get(id) ?? 0) + 1)
  }

  delete(id: number): void {
    this.#jobs.delete(id)
  }

  all(): Iterable<MemoryJob> {
    return this.#jobs.values()
  }

  /** Behind jobs of the same and higher levels in its band; native jobs keep their place. */
  enqueue(job: MemoryJob): void {
    const level = job.level ?? defaultLevel
    const queue = this.queues[bandOf(level)]
    const last = this.#jobs.get(queue.at(-1) ?? 0)
    const isLast = last?.terms !== undefined && last.terms.level >= level
    const lower = isLast ? -1 : queue.findIndex((id) => this.#isBelow(id, level))
    queue.splice(lower < 0 ? queue.length : lower, 0, job.id)
  }

  /** Before the jobs of its level, behind those of higher ones. */
  requeue(job: MemoryJob): void {
    const level = job.level ?? defaultLevel
    const queue = this.queues[bandOf(level)]
    const place = queue.findIndex((id) => (this.#jobs.get(id)?.level ?? 0) <= level)
    queue.splice(place < 0 ? queue.length : place, 0, job.id)
  }

  /** Scheduled ids, or those that wait for their turn. */
  scheduledIds(isWaiting: boolean): number[] {
    return [...this.scheduled].flatMap(([id, dueMs]) => (dueMs >= farMs === isWaiting ? [id] : []))
  }

  /** The band and id of the next job. */
  head(): { readonly band: Band; readonly id: number } | undefined {
    for (const band of bands) {
      const id = this.queues[band][0]
      if (id !== undefined) return { band, id }
    }
    return undefined
  }

  get queued(): number {
    return bands.reduce((sum, band) => sum + this.queues[band].length, 0)
  }

  /** True if there is a queued job that its clients have not abandoned. */
  get hasWanted(): boolean {
    return bands.some((band) =>
      this.queues[band].some((id) => {
        const job = this.#jobs.get(id)
        return job !== undefined && (!isForeground(job) || job.waiting.length > 0)
      }),
    )
  }

  /** True if a worker that may get its jobs is there. */
  isAttended(nowMs: number, isAutoOpen: boolean): boolean {
    return this.#ableWorkers(nowMs, isAutoOpen) > 0
  }

  isFull(level: Level): boolean {
    const max = this.limits[bandOf(level)] ?? 0
    return max > 0 && this.queued + this.scheduled.size + this.busy.size >= max
  }

  /** How consumers get its jobs: opened for good, by the automatic rule, or not at all. */
  openness(nowMs: number): 'open' | 'auto' | undefined {
    if (this.isOpen) return 'open'
    if (this.isOpen === false || this.closedUntilMs > nowMs || this.byName > 0) return undefined
    return 'auto'
  }

  /** The same, with why it is closed. */
  standing(nowMs: number): LaneOpenness['state'] {
    return this.openness(nowMs) ?? (this.isOpen === false ? 'shut' : 'closed')
  }

  /** Notes that by-name workers are there, or were until now. */
  noteNamed(nowMs: number, graceMs: number): void {
    this.closedUntilMs = nowMs + graceMs
  }

  /** All workers counted, those of native programs included. */
  get counted(): number {
    return this.byName + this.consumers.all
  }

  /** By-name workers, behind nodes or native. */
  get byName(): number {
    let sum = this.nativeWorkers
    for (const { named } of this.workers.values()) sum += named
    return sum
  }

  /** Faktory consumers, and those of them with the function's label. */
  get consumers(): { readonly all: number; readonly labelled: number } {
    const counts = [...this.workers.values()]
    return {
      all: counts.reduce((sum, { consumers }) => sum + consumers, 0),
      labelled: counts.reduce((sum, { labelled = 0 }) => sum + labelled, 0),
    }
  }

  /** `isAutoOpen`: the automatic rule opens lanes to consumers. */
  counts(nowMs: number, isAutoOpen = true): LaneCounts {
    const waiting = this.scheduledIds(true).length
    return {
      lane: this.lane,
      high: this.queues.high.length,
      normal: this.queues.normal.length + waiting,
      low: this.queues.low.length,
      running: this.busy.size,
      scheduled: this.scheduled.size - waiting,
      retrying: [...this.scheduled.keys()].filter((id) => this.#jobs.get(id)?.failure).length,
      dead: this.dead.length,
      workers: this.#ableWorkers(nowMs, isAutoOpen),
      ...this.counters,
      isRemoved: this.removedAt === this.#lastId,
      openness: this.standing(nowMs),
      oldestMs: undefined,
    }
  }

  forgetIndexes(job: MemoryJob): void {
    this.forgetUnique(job)
    const { jid } = job.terms ?? {}
    if (jid !== undefined && this.jids.get(jid) === job.id) this.jids.delete(jid)
  }

  forgetUnique(job: MemoryJob): void {
    const { unique } = job.terms ?? {}
    const key = unique && uniqueKey(unique)
    if (key !== undefined && this.unique.get(key) === job.id) this.unique.delete(key)
  }

  /** Workers that may get its jobs. */
  #ableWorkers(nowMs: number, isAutoOpen: boolean): number {
    const { all, labelled } = this.consumers
    const openness = this.openness(nowMs)
    const isOpen = openness === 'open' || (openness === 'auto' && isAutoOpen)
    return isOpen || all === 0 ? this.byName + all : Math.max(0, this.byName + labelled)
  }

  #isBelow(id: number, level: Level): boolean {
    const job = this.#jobs.get(id)
    return job?.terms !== undefined && job.terms.level < level
  }
}
