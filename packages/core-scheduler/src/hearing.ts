import type { IdleWorker, IdleWorkers } from './idle-workers.ts'
import { idleKeysOf } from './interest.ts'
import type { Job, JobEvent, JobRef, Outcome } from './job.ts'
import { LaneLooks } from './lane-looks.ts'
import type { LaneRegistry } from './lane-registry.ts'
import type { NativeCare } from './native-care.ts'
import { failureEvent } from './outcomes.ts'
import type { Clock, Observer, Store, StoreListener } from './ports.ts'
import { ProgressLook } from './progress-look.ts'
import type { ConsumerNews } from './queue-ports.ts'
import type { FailureReport } from './retry.ts'
import type { Submissions } from './submissions.ts'
import type { Waiters } from './waiters.ts'
import type { WorkerCounts } from './worker-counts.ts'

/** How long the answer of this node's own worker may lag behind the news of it, milliseconds. */
const ownAnswerMs = 2
/** Clients in one look at what became of their jobs; the rest have the next one. */
const maxLookedAt = 500

export interface HearingParts {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Observer
  readonly registry: LaneRegistry
  readonly idle: IdleWorkers
  readonly waiters: Waiters
  readonly counts: WorkerCounts
  readonly submissions: Submissions
  readonly wake: (lane: string, jobs: number) => void
  /** A job came, or will in a moment, though nobody sleeps here who could be woken. */
  readonly stir: (lane: string) => void
  readonly tell: (ref: JobRef, event: JobEvent) => void
  readonly loadPauses: () => Promise<void>
  readonly consumerNews: (wid: string, news: ConsumerNews) => void
  readonly care: NativeCare
  readonly settle: (outcome: Outcome) => void
  /** This node is about to tell by itself what became of a job. */
  readonly isSettling: (ref: JobRef) => boolean
  /** Settles what a native worker wrote in the job. */
  readonly settleNative: (job: Job) => void
  readonly outcomeOf: (job: Job & { readonly token: string }, report: FailureReport) => Outcome
}

/** What other nodes and native programs do, as far as it concerns workers and clients of this node. */
export class Hearing implements StoreListener {
  readonly #parts: HearingParts
  readonly #progress: ProgressLook
  readonly #looks: LaneLooks
  #isUp = true
  /** What happens is told. */
  #hears = true
  #outages = 0

  constructor(parts: HearingParts) {
    this.#parts = parts
    this.#looks = new LaneLooks({
      ...parts,
      hasIdle: (lane) => this.#hasIdle(lane),
      guard: (run) => this.#guard('look', run),
    })
    this.#progress = new ProgressLook({
      isWaitedFor: (lane, id) => parts.waiters.has(lane, id),
      verify: (lane, ids) => this.verify(lane, ids),
    })
  }

  created(lane: string, id: number): void {
    const { registry, submissions, observer } = this.#parts
    if (registry.numberOf(lane) === undefined) {
      submissions.laneNumber(lane).then(
        () => this.#looks.news(lane),
        (error: unknown) => observer.trouble('new lane', error),
      )
      return
    }
    submissions.settled(lane, () => {
      if (!submissions.isOwn(lane, id)) this.#looks.news(lane)
    })
  }

  started(lane: string, id: number): void {
    this.#parts.submissions.settled(lane, () => {
      if (this.#parts.waiters.has(lane, id)) this.#progress.add(lane, id)
    })
  }

  finished(lane: string, id: number): void {
    this.#parts.submissions.settled(lane, () => {
      if (!this.#parts.waiters.has(lane, id)) {
        this.#parts.care.finished(lane, id)
        return
      }
      this.#parts.clock.after(ownAnswerMs, () => {
        if (this.#parts.waiters.has(lane, id)) void this.verify(lane, [id])
      })
    })
  }

  relayed(ref: JobRef, event: JobEvent | 'finish'): void {
    this.#parts.submissions.settled(ref.lane, () => {
      if (event !== 'finish') this.#parts.tell(ref, event)
      else if (this.#parts.waiters.has(ref.lane, ref.id)) void this.verify(ref.lane, [ref.id])
    })
  }

  woken(lane: string, jobs: number): void {
    this.#parts.wake(lane, jobs)
  }

  laneAdded(lane: string, number: number): void {
    if (this.#parts.registry.add(lane, number)) this.#parts.counts.laneAdded(lane)
  }

  /** False from the moment that the store was lost until what happened meanwhile is caught up with. */
  get isUp(): boolean {
    return this.#isUp
  }

  up(): void {
    this.#hears = true
    this.#parts.observer.store(true)
    void this.recover()
  }

  /** Learns what happened while the store was away. Where that fails the next beat tries it again. */
  async recover(): Promise<void> {
    if (this.#isUp || !this.#hears) return
    const outages = this.#outages
    await this.#guard('look after reconnecting', async () => {
      await this.loadLanes()
      await this.#parts.loadPauses()
      this.#parts.counts.retell()
      await this.#lookAt('all')
      if (outages === this.#outages) this.#isUp = true
    })
  }

  down(reason: string): void {
    this.#hears = false
    this.#outages += 1
    this.#isUp = false
    this.#parts.observer.store(false, reason)
  }

  laneDropped(lane: string): void {
    this.#parts.registry.remove(lane)
  }

  consumerNews(wid: string, news: ConsumerNews): void {
    this.#parts.consumerNews(wid, news)
  }

  pausesChanged(): void {
    void this.#guard('look at paused queues', async () => {
      await this.#parts.loadPauses()
      await this.sweep()
    })
  }

  /** Wakes all who wait for jobs of a queue, if there are any. */
  async wakeQueue(queue: string): Promise<void> {
    const { registry } = this.#parts
    await this.#guard('throttles', () => this.#wakeFor(registry.ofQueue(queue), () => Infinity))
  }

  async loadLanes(): Promise<void> {
    for (const [lane, number] of await this.#parts.store.lanes()) this.laneAdded(lane, number)
  }

  /** Looks at what may have happened in lanes while nobody listened. */
  async catchUp(fresh: ReadonlySet<string> | 'all'): Promise<void> {
    await this.#guard('catch up', () => this.#lookAt(fresh))
  }

  /** The safety net: queued jobs beside idle workers, clients whose outcome went unheard. */
  async sweep(): Promise<void> {
    await this.#guard('sweep', async () => {
      const { registry, waiters } = this.#parts
      await this.#wakeFor(
        [...registry.all()].filter((lane) => this.#hasIdle(lane)),
        () => 1,
      )
      for (const lane of [...waiters.lanes()]) await this.#verifyOld(lane, 1_000)
    })
  }

  /** Looks for the progress of jobs that native workers run and clients of this node wait for. */
  lookAtProgress(): Promise<void> {
    return this.#progress.look()
  }

  /** Wakes a worker that has just fallen asleep if it overlooked a job. */
  async lookFor(worker: IdleWorker): Promise<void> {
    await this.#guard('look for a job', async () => {
      const lanes = worker.interest.groups(this.#parts.registry).flatMap((group) => group.lanes)
      const [found] = await this.#parts.store.nonEmpty(lanes)
      if (found === undefined || !this.#parts.idle.has(worker)) return
      this.#parts.idle.remove(worker)
      worker.wake()
    })
  }

  /** Reads jobs that clients wait for and tells them what they missed. */
  async verify(lane: string, ids: readonly number[], goneIsLost = false): Promise<void> {
    await this.#guard('look at a job', async () => {
      const jobs = await this.#parts.store.read(lane, ids)
      for (const [at, id] of ids.entries()) {
        const job = jobs[at]
        if (this.#parts.isSettling({ lane, id })) continue
        if (job) this.#tellOf(job)
        else if (goneIsLost) this.#giveUp({ lane, id })
      }
    })
  }

  /** A job is gone and its outcome went unheard, unless the answer to its own end is just arriving. */
  #giveUp(ref: JobRef): void {
    this.#parts.clock.after(ownAnswerMs, () => this.#parts.waiters.giveUp(ref))
  }

  /** Consumers name no functions: a lane that a native client made has to be found for them. */
  async #discover(): Promise<void> {
    const { idle, registry, store, submissions } = this.#parts
    if (!idle.hasConsumers()) return
    for (const lane of await store.discover()) {
      if (registry.numberOf(lane) === undefined) await submissions.laneNumber(lane)
    }
  }

  #tellOf(job: Job): void {
    const { tell, waiters, settleNative } = this.#parts
    if (job.status === 'idle' || job.status === 'busy') {
      const { lane, id, dividend, divisor } = job
      if (dividend && divisor && waiters.isNews(job, dividend, divisor)) {
        tell(job, { kind: 'status', dividend, divisor })
      }
      if (job.token !== undefined) this.#progress.remove(lane, id)
      else if (job.status === 'busy') this.#progress.add(lane, id)
      return
    }
    if (job.settled) {
      const output = job.output ?? Buffer.alloc(0)
      tell(
        job,
        job.status === 'success' ? { kind: 'complete', output } : failureEvent(output, job.thrown),
      )
    } else settleNative(job)
  }

  async #lookAt(fresh: ReadonlySet<string> | 'all'): Promise<void> {
    if (fresh === 'all') await this.#discover()
    const lanes = fresh === 'all' ? [...this.#parts.registry.all()] : [...fresh]
    await this.#wakeFor(lanes, () => 1)
    for (const lane of lanes) {
      if (this.#parts.waiters.hasLane(lane)) await this.#verifyOld(lane, 0)
    }
  }

  async #verifyOld(lane: string, ageMs: number): Promise<void> {
    const beforeMs = this.#parts.clock.nowMs() - ageMs
    const ids = this.#parts.waiters.inTurn(lane, beforeMs, maxLookedAt)
    if (ids.length > 0) await this.verify(lane, ids, ageMs > 0)
  }

  #hasIdle(lane: string): boolean {
    const { idle, registry } = this.#parts
    const { byName, byQueue } = idleKeysOf(lane, registry)
    return idle.hasKey(byQueue) || byName.some((key) => idle.hasKey(key))
  }

  async #wakeFor(lanes: readonly string[], jobs: (lane: string) => number): Promise<number> {
    const { idle, store, wake } = this.#parts
    if (idle.size === 0 || lanes.length === 0) return 0
    const found = await store.nonEmpty(lanes)
    for (const lane of found) wake(lane, jobs(lane))
    return found.length
  }

  async #guard(task: string, run: () => Promise<unknown>): Promise<void> {
    try {
      await run()
    } catch (error) {
      this.#parts.observer.trouble(task, error)
    }
  }
}
