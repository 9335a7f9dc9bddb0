import type { IdleWorker } from '../dispatch/idle-workers.ts'
import type { Wakeups } from '../dispatch/wakeups.ts'
import type { Pauses } from '../admin/pauses.ts'
import type { QueueControl } from '../admin/queue-control.ts'
import type { SchedulerEmitter } from '../scheduler-events.ts'
import type { JobEvent, JobRef } from '../model/job.ts'
import { JobPoller, ownAnswerMs, type PollReason } from '../results/job-poller.ts'
import { LaneRounds } from '../maintenance/lane-rounds.ts'
import { LanePoller } from '../maintenance/lane-poller.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { NativeRecovery } from '../maintenance/native-recovery.ts'
import { NewLanes } from '../intake/new-lanes.ts'
import type { NativeOutcomes } from '../results/native-outcomes.ts'
import type { Outcomes } from '../results/outcomes.ts'
import type { Waiters } from '../results/waiters.ts'
import type { Clock } from '../clock.ts'
import type { StoreListener } from '../store/event-ports.ts'
import type { Observer } from '../observer.ts'
import type { Store } from '../store/store.ts'
import { ProgressPoller } from '../results/progress-poller.ts'
import type { ConsumerNews } from '../store/queue-ports.ts'
import type { Submissions } from '../intake/submissions.ts'
import type { LaneRegistrar } from '../intake/lane-registrar.ts'
import type { ChannelSubscriptions } from './channel-subscriptions.ts'
import type { NodeQuestions } from './node-questions.ts'
import type { WorkerCounts } from '../maintenance/nodes/worker-counts.ts'

/** Up to this many lanes are polled one by one for a worker that becomes idle. */
const fewLanes = 64
/** Lanes that a sweep passes in search of idle workers, and those with idle workers that it asks the store about. */
const passedAtOnce = 2_000
const sweptAtOnce = 8

interface Parts {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Observer
  readonly waiters: Waiters
  readonly outcomes: Outcomes
  readonly nativeOutcomes: NativeOutcomes
  readonly registry: LaneRegistry
  readonly wakeups: Wakeups
  readonly events: SchedulerEmitter
  readonly queues: QueueControl
  readonly pauses: Pauses
  readonly counts: WorkerCounts
  readonly submissions: Submissions
  readonly registrar: LaneRegistrar
  readonly subscriptions: ChannelSubscriptions
  readonly nodeQuestions: NodeQuestions
  readonly recovery: NativeRecovery
}

/** Handles events from other nodes and native programs for this node's workers and clients. */
export class NotificationHandler implements StoreListener {
  readonly #parts: Parts
  readonly #progress: ProgressPoller
  readonly #lanePoller: LanePoller
  readonly #jobPoller: JobPoller
  readonly #newLanes: NewLanes
  readonly #toSweep: LaneRounds
  /** True while events arrive. */
  #isListening = true
  #outages = 0
  /** Drops may have been missed. */
  #mayHoldLost = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#toSweep = new LaneRounds(parts.registry, 1, Infinity)
    this.#lanePoller = new LanePoller(parts)
    this.#progress = new ProgressPoller(parts.waiters)
    this.#jobPoller = new JobPoller({ ...parts, progress: this.#progress })
    this.#newLanes = new NewLanes({ ...parts, lanePoller: this.#lanePoller })
    parts.events.on('lanesWatched', (fresh) => this.#catchUp(fresh))
    parts.events.on('throttleReleased', (queue) => this.#wakeQueue(queue))
    parts.events.on('laneDropped', (lane) => parts.wakeups.forgetArrivals(lane))
    parts.events.on('beat', (wasReset) => this.#onBeat(wasReset))
  }

  created(lane: string, id: number): void {
    const { registry, submissions } = this.#parts
    if (registry.numberOf(lane) === undefined) {
      this.#newLanes.announced(lane, id)
      return
    }
    submissions.settled(lane, () => {
      if (!submissions.isOwn(lane, id)) this.#lanePoller.news(lane)
    })
  }

  started(lane: string, id: number): void {
    this.#parts.recovery.started(lane)
    this.#parts.submissions.settled(lane, () => {
      if (this.#parts.waiters.has(lane, id)) this.#progress.add(lane, id)
    })
  }

  finished(lane: string, id: number): void {
    this.#parts.submissions.settled(lane, () => {
      if (!this.#parts.waiters.has(lane, id)) {
        this.#parts.recovery.finished(lane, id)
        return
      }
      this.#parts.clock.after(ownAnswerMs, () => {
        if (this.#parts.waiters.has(lane, id)) void this.#pollJobs(lane, [id])
      })
    })
  }

  relayed(ref: JobRef, event: JobEvent | 'finish'): void {
    this.#parts.submissions.settled(ref.lane, () => {
      if (event !== 'finish') this.#parts.waiters.notify(ref, event)
      else if (this.#parts.waiters.has(ref.lane, ref.id)) {
        void this.#pollJobs(ref.lane, [ref.id], { endWasSeen: true })
      }
    })
  }

  woken(lane: string, jobs: number): void {
    this.#parts.wakeups.wake(lane, jobs)
  }

  laneAdded(lane: string, number: number): void {
    void this.#parts.registrar.added(lane, number)
  }

  up(): void {
    this.#isListening = true
    this.#parts.observer.store(true)
    void this.recover()
  }

  /** A store that was reset gets the lanes of this node again. */
  async #onBeat(wasReset: boolean): Promise<void> {
    if (!this.#mayHoldLost || !this.#isListening) return
    if (wasReset) this.#mayHoldLost = false
    else await this.#guard('dropped lanes', () => this.#dropLost())
  }

  /** Catches up after the store was away. If that fails, the next beat tries again. */
  async recover(): Promise<void> {
    const { subscriptions } = this.#parts
    if (subscriptions.isCaughtUp || !this.#isListening) return
    const outages = this.#outages
    this.#parts.recovery.eventsMissed()
    await this.#guard('catch up after reconnecting', async () => {
      await this.loadLanes()
      await this.#parts.queues.load()
      this.#parts.counts.republishAll()
      await this.#pollLanes('all')
      if (outages === this.#outages) subscriptions.caughtUp()
    })
  }

  down(reason: string): void {
    this.#isListening = false
    this.#outages += 1
    this.#mayHoldLost = true
    this.#parts.subscriptions.lost()
    this.#parts.observer.store(false, reason)
  }

  laneClosed(lane: string): void {
    this.#parts.events.emit('laneClosed', lane)
  }

  laneDropped(lane: string, number: number): void {
    this.#parts.registrar.dropped(lane, number)
  }

  consumerNews(wid: string, news: ConsumerNews): void {
    this.#parts.events.emit('consumerNews', wid, news)
  }

  asked(node: string, number: number, question: string): void {
    void this.#parts.nodeQuestions.asked(node, number, question)
  }

  answered(node: string, number: number, answer: string): void {
    this.#parts.nodeQuestions.answered(node, number, answer)
  }

  pausesChanged(): void {
    void this.#guard('load pauses', async () => {
      await this.#parts.queues.load()
      await this.#wakeIdle([...this.#parts.registry.all()])
    })
  }

  /** Wakes all workers that wait for jobs of a queue. */
  async #wakeQueue(queue: string): Promise<void> {
    const { registry } = this.#parts
    await this.#guard('throttles', () => this.#wakeFor(registry.ofQueue(queue), () => Infinity))
  }

  async loadLanes(): Promise<void> {
    for (const [lane, number] of await this.#parts.store.lanes.all()) this.laneAdded(lane, number)
  }

  /** After an outage: lanes that the store has no more leave the registry. One that comes meanwhile stays. */
  async #dropLost(): Promise<void> {
    const { registry, registrar, store } = this.#parts
    const outages = this.#outages
    const known = [...registry.entries()]
    const kept = await store.lanes.all()
    for (const [lane, number] of known) if (!kept.has(lane)) registrar.dropped(lane, number)
    if (outages === this.#outages) this.#mayHoldLost = false
  }

  /** Polls lanes for events that were missed. */
  async #catchUp(fresh: ReadonlySet<string> | 'all'): Promise<void> {
    await this.#guard('catch up', () => this.#pollLanes(fresh))
  }

  /** The safety net: finds queued jobs beside idle workers, and waiters that missed an outcome. */
  async sweep(): Promise<void> {
    await this.#guard('sweep', async () => {
      const { waiters } = this.#parts
      if (this.#parts.wakeups.idle.size > 0) await this.#wakeIdle(this.#nextIdle())
      for (const lane of [...waiters.lanes()]) {
        await this.#pollOld(lane, 1_000, { goneIsLost: true })
      }
    })
  }

  /** Some of the lanes with idle workers, in turn. */
  #nextIdle(): readonly string[] {
    const { registry, wakeups } = this.#parts
    const found: string[] = []
    const max = Math.min(passedAtOnce, registry.size)
    for (let passed = 0; passed < max && found.length < sweptAtOnce; passed += 1) {
      for (const lane of this.#toSweep.next()) if (wakeups.hasIdle(lane)) found.push(lane)
    }
    return found
  }

  /** Polls the progress of jobs that have native workers and waiters at this node. */
  async pollProgress(): Promise<void> {
    for (const [lane, ids] of this.#progress.next()) await this.#pollJobs(lane, ids)
  }

  /** Wakes a worker that has just become idle if it overlooked a job. */
  async lookFor(worker: IdleWorker): Promise<void> {
    await this.#guard('poll for a job', async () => {
      const { by } = worker.subscription
      const all = worker.subscription.groups(this.#parts.registry)
      // A job of a paused lane would wake it again and again.
      const { groups, paused } = this.#parts.pauses.unpaused(by, all)
      const count = groups.reduce((sum, { lanes }) => sum + lanes.length, 0) - paused.size
      // A consumer's own claim has asked the index of its queues already.
      if (by === 'named' || count <= fewLanes) {
        const lanes = groups.flatMap((group) => group.lanes.filter((lane) => !paused.has(lane)))
        if ((await this.#parts.store.lanes.nonEmpty(lanes)).length === 0) return
      }
      if (!this.#parts.wakeups.idle.has(worker)) return
      this.#parts.wakeups.idle.remove(worker)
      worker.wake()
    })
  }

  #pollJobs(lane: string, ids: readonly number[], reason?: PollReason): Promise<void> {
    return this.#guard('poll a job', () => this.#jobPoller.poll(lane, ids, reason))
  }

  #pollOld(lane: string, ageMs: number, reason: PollReason): Promise<void> {
    return this.#guard('poll a job', () => this.#jobPoller.pollOld(lane, ageMs, reason))
  }

  /** Consumers name no functions: lanes made by native clients have to be found for them. */
  async #discover(): Promise<void> {
    const { wakeups, registry, store, registrar } = this.#parts
    if (!wakeups.idle.hasConsumers()) return
    const isKnown = (lane: string): boolean => registry.numberOf(lane) !== undefined
    for (const lane of await store.lanes.discover(isKnown)) await registrar.register(lane)
  }

  async #pollLanes(fresh: ReadonlySet<string> | 'all'): Promise<void> {
    if (fresh === 'all') await this.#discover()
    const lanes = fresh === 'all' ? [...this.#parts.registry.all()] : [...fresh]
    await this.#wakeIdle(lanes)
    for (const lane of lanes) {
      if (!this.#parts.waiters.hasLane(lane)) continue
      await this.#pollOld(lane, 0, { afterSilence: true })
    }
  }

  async #wakeIdle(lanes: readonly string[]): Promise<void> {
    await this.#wakeFor(
      lanes.filter((lane) => this.#parts.wakeups.hasIdle(lane)),
      () => 1,
    )
  }

  async #wakeFor(lanes: readonly string[], jobs: (lane: string) => number): Promise<number> {
    const { wakeups, store } = this.#parts
    if (wakeups.idle.size === 0 || lanes.length === 0) return 0
    const found = await store.lanes.nonEmpty(lanes)
    for (const lane of found) wakeups.wake(lane, jobs(lane))
    return found.length
  }

  async #guard(task: string, run: () => Promise<unknown>): Promise<void> {
    try {
      await run()
    } catch (error) {
      this.#parts.observer.error(task, error)
    }
  }
}
