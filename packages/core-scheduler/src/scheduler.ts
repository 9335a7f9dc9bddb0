import type { BatchStore } from './store/batch-ports.ts'
import type { CronStore } from './store/cron-ports.ts'
import type { Administration } from './admin/administration.ts'
import type { JobLookup } from './admin/job-lookup.ts'
import type { LeaseHolders } from './maintenance/lease-holders.ts'
import type { JobSets } from './admin/job-sets.ts'
import type { QueueControl } from './admin/queue-control.ts'
import type { IdleWorker } from './dispatch/idle-workers.ts'
import { consumerSubscription, namedSubscription } from './model/subscription.ts'
import type { Ability, Subscription } from './model/subscription.ts'
import { holderOf, type JobRef, type JobState, type Report } from './model/job.ts'
import type { LaneRegistry } from './model/lane-registry.ts'
import { LeaseTimers } from './dispatch/lease-timers.ts'
import type { SchedulerOptions } from './scheduler-options.ts'
import { schedulerParts, type SchedulerParts } from './scheduler-parts.ts'
import type { Clock, Observer, Store } from './store/ports.ts'
import type { JobNote } from './store/queue-ports.ts'
import type {
  Assignment,
  FetchRequest,
  Reporting,
  Settlement,
  Submission,
} from './model/requests.ts'
import { lossFailure, type FailureReport } from './model/retry.ts'
import type { TaskTimes } from './maintenance/task-times.ts'
import type { Waiter } from './results/waiters.ts'

/**
 * The meaning between doors and store: who gets which job, who is woken, who hears the outcome. It
 * knows no protocol and holds nothing that another node needs.
 */
export class Scheduler {
  readonly registry: LaneRegistry
  /** Ends the leases of this node's workers. */
  readonly leases: LeaseTimers
  /** Operations for administrators. */
  readonly admin: Administration
  /** Faktory queues as wholes. */
  readonly queues: QueueControl
  readonly batches: BatchStore
  readonly cron: CronStore
  /** Scheduled, retried and dead jobs. */
  readonly sets: JobSets
  readonly jobs: JobLookup
  /** Counts of this node's background tasks. */
  readonly tasks: TaskTimes
  /** Which Faktory workers hold what goes back when they die. */
  readonly holders: LeaseHolders
  readonly #store: Store
  readonly #clock: Clock
  readonly #observer: Observer
  readonly #options: SchedulerOptions
  readonly #parts: SchedulerParts

  constructor(store: Store, clock: Clock, observer: Observer, options: SchedulerOptions = {}) {
    this.#store = store
    this.#clock = clock
    this.#observer = observer
    this.#options = options
    this.batches = store.batches
    this.cron = store.cron
    const parts = schedulerParts(store, clock, observer, options)
    this.registry = parts.registry
    this.leases = new LeaseTimers(clock)
    this.admin = parts.admin
    this.queues = parts.queues
    this.sets = parts.sets
    this.jobs = parts.jobs
    this.tasks = parts.tasks
    this.holders = parts.holders
    this.#parts = parts
  }

  /** Learns the lanes and joins the nodes. Throws where the store cannot be reached. */
  async start(): Promise<void> {
    const { notifications, maintenance } = this.#parts
    this.#store.listen(notifications)
    await notifications.loadLanes()
    await maintenance.start()
    await this.queues.load()
    await this.#openRouted()
    this.onStoreReset(() => this.#openRouted())
  }

  /** Is called when the store has forgotten what this node told it; what it returns ends that. */
  onStoreReset(reminder: () => Promise<void> | void): () => void {
    return this.#parts.events.on('storeReset', reminder)
  }

  /** Is called when an operator closed a lane to consumers; what it returns ends that. */
  onLaneClosed(listener: (lane: string) => void): () => void {
    return this.#parts.events.on('laneClosed', listener)
  }

  /** From now on no worker is given a job, or woken for one; outcomes of those handed out are taken. */
  drain(): void {
    this.#parts.claims.stop()
    this.#parts.wakeups.idle.close()
  }

  /** Jobs in the hands of this node's workers. */
  get running(): number {
    return this.#parts.activeLeases.size
  }

  /** Resolves when no worker of this node has a job. */
  whenIdle(): Promise<void> {
    return this.#parts.activeLeases.whenEmpty()
  }

  /** Leaves the nodes; what is still held by Gearman workers of this node goes back. */
  async stop(): Promise<void> {
    this.#parts.claims.stop()
    this.leases.close()
    this.#parts.subscriptions.stop()
    this.#parts.maintenance.stop()
    await this.#store.leave([...this.registry.all()])
  }

  /**
   * Hands in a job for a lane. The answer comes when the store has it. It waits for `ready`, if given, and what
   * comes for its queue meanwhile goes behind it.
   */
  submit(lane: string, submission: Submission, ready?: Promise<unknown>): void {
    const { fn } = this.registry.names.parse(lane)
    const route = {
      retries: this.#options.retries?.get(fn),
      retentionSeconds: this.#options.retentionSeconds?.get(fn),
    }
    const { traced } = this.#options
    const handedIn = traced ? traced(lane, submission) : submission
    this.#parts.submissions.add(lane, handedIn, route, ready)
    if (submission.waiter) this.#parts.subscriptions.touch()
  }

  /** Asks for one job. The answer comes at once, with a job or without. */
  claim(request: FetchRequest): void {
    this.#parts.claims.add(request)
  }

  complete(assignment: Assignment, output: Uint8Array, settlement?: Settlement): void {
    const { job } = assignment
    const { lane, id, token } = job
    const outcome = { lane, id, token, kind: 'complete', output, job } as const
    this.#parts.outcomes.add(assignment, outcome, settlement)
  }

  /** A failure that the worker reports: final, due again or dead by the job's policy. */
  fail(assignment: Assignment, report: FailureReport, settlement?: Settlement): void {
    this.#parts.outcomes.add(
      assignment,
      this.#parts.retryPolicy.ofFailure(assignment.job, report),
      settlement,
    )
  }

  /** The worker will not finish it. `lost` says that it vanished or ran out of time. */
  release(assignment: Assignment, lost: boolean, settlement?: Settlement): void {
    const { lane, id, token } = assignment.job
    const maxLosses = this.#options.maxLosses ?? 0
    const failure = lost && maxLosses > 0 ? lossFailure(this.storeNowMs()) : undefined
    this.#parts.outcomes.add(
      assignment,
      { lane, id, token, kind: 'requeue', lost, maxLosses, ...(failure && { failure }) },
      settlement,
    )
  }

  /** Passes what a running job says to those who wait for it. */
  report(report: Report, reporting: Reporting): void {
    this.#parts.outcomes.addReport(report, reporting)
  }

  /**
   * A worker goes idle and is woken when there may be a job; with `look` at once if there is one
   * now. A worker that knows of its own that there was none (see {@link arrivals}) need not look. One
   * that was woken for nothing sleeps `again`, and keeps its place in the line.
   */
  addIdle(worker: IdleWorker, look: boolean, again = false): void {
    this.#parts.wakeups.idle.add(worker, again)
    // Behind the claims of this turn: what the worker has just been given does not wake it.
    if (look && !this.#parts.claims.isKnownEmpty(worker.subscription))
      this.#clock.endOfTurn(() => void this.#parts.notifications.lookFor(worker))
    this.#parts.subscriptions.touch()
  }

  /** Grows with each wake-up for what a subscription covers: the same figure means nothing came. */
  arrivals(subscription: Subscription): number {
    return this.#parts.wakeups.arrivals.of(subscription)
  }

  /** The worker is idle no more, or gone. */
  removeIdle(worker: IdleWorker): void {
    this.#parts.wakeups.idle.remove(worker)
  }

  namedSubscription(abilities: readonly Ability[]): Subscription {
    return namedSubscription(abilities, this.registry, this.#options.functionOrder)
  }

  consumerSubscription(queues: readonly string[], functions?: ReadonlySet<string>): Subscription {
    const access = this.#options.bridge === 'routed' ? 'opened' : 'auto'
    return consumerSubscription(queues, this.registry, functions, access)
  }

  /** A by-name worker came for a function or lane (+1), or left (-1). */
  countNamed(fn: string, change: 1 | -1): void {
    const lane = this.registry.names.canonical(fn)
    this.#parts.counts.named(lane, change)
    if (change === 1) {
      this.#parts.registrar
        .register(lane)
        .catch((error: unknown) => this.#observer.error('new lane', error))
    }
  }

  /** A Faktory consumer came for a queue (+1), or left (-1). */
  countConsumer(queue: string, change: 1 | -1): void {
    this.#parts.counts.consumer(queue, change)
  }

  /** Opens a lane to Faktory consumers for good: a producer pushed such jobs, or a route says so. */
  async openLane(lane: string): Promise<void> {
    await this.#parts.registrar.register(lane)
    await this.#store.openLane(lane)
  }

  /** Closes it until a route, a producer or an operator opens it. */
  async closeLane(lane: string): Promise<void> {
    await this.#store.closeLane(lane)
  }

  /** The client waits no longer for these jobs. */
  abandon(waiter: Waiter, refs: Iterable<JobRef>): void {
    const byLane = new Map<string, number[]>()
    for (const { lane, id } of refs) {
      if (!this.#parts.waiters.remove(lane, id, waiter)) continue
      const ids = byLane.get(lane)
      if (ids) ids.push(id)
      else byLane.set(lane, [id])
    }
    for (const [lane, ids] of byLane) this.#parts.submissions.abandon(lane, ids)
  }

  /** Keeps what a worker notes on its job; false where it has lost it. */
  note({ job }: Assignment, note: JobNote): Promise<boolean> {
    return this.#store.queues.note(job, job.token, note)
  }

  /** Notes something on a job that no consumer holds; false where it is gone. */
  annotate(ref: JobRef, note: Omit<JobNote, 'reserveUntilMs'>): Promise<boolean> {
    return this.#store.queues.note(ref, undefined, note)
  }

  /** A consumer's lease that this node did not hand out, as one that it did: for outcomes by jid. */
  lookupLease(job: JobState): Assignment | undefined {
    // A by-name worker's lease is ended by its own words alone; a token names its kind first.
    if (job.token === undefined || holderOf(job.token) !== 'consumer') return undefined
    return {
      job: { ...job, token: job.token, heldBy: 'consumer' },
      sinceMs: this.#clock.nowMs(),
      isLookedUp: true,
    }
  }

  /** The store's clock, milliseconds since 1970, as of the last heartbeat. */
  storeNowMs(): number {
    return this.#parts.heartbeat.storeNowMs()
  }

  /** When each node said last that it lives, milliseconds since 1970 on the store's clock, as of the last heartbeat. */
  get nodes(): ReadonlyMap<string, number> {
    return this.#parts.heartbeat.nodes
  }

  check(): Promise<void> {
    return this.#store.check()
  }

  async #openRouted(): Promise<void> {
    for (const fn of this.#options.routed ?? []) await this.openLane(fn)
  }
}
