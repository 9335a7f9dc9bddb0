import type { BatchStore } from './store/batch-ports.ts'
import type { CronStore, Replaced, Replacement } from './store/admin-ports.ts'
import type { AuditStore } from './store/audit-ports.ts'
import type { HistoryStore } from './store/history-ports.ts'
import type { InspectStore } from './store/inspect-ports.ts'
import type { Administration } from './admin/administration.ts'
import type { JobLookup } from './admin/job-lookup.ts'
import type { LeaseHolders } from './maintenance/lease-holders.ts'
import type { JobSets } from './admin/job-sets.ts'
import type { QueueControl } from './admin/queue-control.ts'
import type { IdleWorker } from './node/idle-workers.ts'
import {
  consumerSubscription,
  fewFunctions,
  inTurns,
  namedSubscription,
} from './model/subscription.ts'
import type { Ability, Subscription } from './model/subscription.ts'
import type { Job, JobRef, JobState, Report } from './model/job.ts'
import type { LaneRegistry } from './model/lane-registry.ts'
import type { NodeQuestions } from './notify/node-questions.ts'
import { LeaseTimers } from './dispatch/lease-timers.ts'
import type { LiveSettings, SchedulerOptions } from './scheduler-options.ts'
import { schedulerParts, type SchedulerParts } from './scheduler-parts.ts'
import type { Clock } from './clock.ts'
import type { Observer } from './observer.ts'
import type { Store } from './store/store.ts'
import type { JobNote } from './store/queue-ports.ts'
import {
  type Assignment,
  consumerLease,
  type FetchRequest,
  type Reporting,
  type Settlement,
  type Submission,
  type Waiter,
} from './model/requests.ts'
import type { FailureReport } from './model/retry-rules.ts'
import type { KeptOutcome } from './results/kept-outcomes.ts'
import { type RouteTerms, withTerms } from './model/route-terms.ts'
import type { TaskTimes } from './maintenance/task-times.ts'

/** Consumers of more queues share no claims: what they ask for in common would have to be a long text. */
const maxSharedQueues = 64

/**
 * Everything between doors and store: gives jobs to workers, wakes workers, delivers outcomes. It
 * knows no protocol and holds no state that another node needs.
 */
export class Scheduler {
  readonly registry: LaneRegistry
  /** Ends the leases of this node's workers. */
  readonly leases: LeaseTimers
  /** Operations for administrators. */
  readonly admin: Administration
  /** Operations on whole Faktory queues. */
  readonly queues: QueueControl
  readonly batches: BatchStore
  readonly cron: CronStore
  /** Events of late, at all nodes. */
  readonly history: HistoryStore
  /** The audit, and the records of what can be undone. */
  readonly audit: AuditStore
  /** Looks of an operator at jobs. */
  readonly inspect: InspectStore
  /** Operations on scheduled, retried and dead jobs. */
  readonly sets: JobSets
  readonly jobs: JobLookup
  /** Metrics of this node's background tasks. */
  readonly tasks: TaskTimes
  /** Questions to nodes about what only they know. */
  readonly nodeQuestions: NodeQuestions
  /** Faktory workers with leases that end when they die. */
  readonly holders: LeaseHolders
  readonly #store: Store
  readonly #clock: Clock
  readonly #observer: Observer
  #options: SchedulerOptions
  readonly #parts: SchedulerParts
  /** Subscriptions with a claim of their own so far. */
  #unshared = 0

  constructor(store: Store, clock: Clock, observer: Observer, options: SchedulerOptions = {}) {
    this.#store = store
    this.#clock = clock
    this.#observer = observer
    this.#options = options
    this.batches = store.batches
    this.cron = store.cron
    this.history = store.history
    this.audit = store.audit
    this.inspect = store.inspect
    const parts = schedulerParts(store, clock, observer, options)
    this.registry = parts.registry
    this.leases = new LeaseTimers(clock)
    this.admin = parts.admin
    this.queues = parts.queues
    this.sets = parts.sets
    this.jobs = parts.jobs
    this.tasks = parts.times
    this.nodeQuestions = parts.nodeQuestions
    this.holders = parts.holders
    this.#parts = parts
  }

  /** Loads the lanes and joins the nodes. Throws if the store cannot be reached. */
  async start(): Promise<void> {
    const { events, outages, heartbeat, reclaimer, tasks } = this.#parts
    this.#store.events.listen(events.ofStore)
    await outages.loadLanes()
    await heartbeat.beat()
    await reclaimer.idle()
    await tasks.start()
    await this.queues.load()
    await this.#openRouted()
    this.onStoreReset(() => this.#openRouted())
  }

  /** Replaces settings while jobs flow; what the store must know follows within a few heartbeats. */
  configure(settings: LiveSettings): void {
    const { retryPolicy, limits, agedJobs, routeChanges, events } = this.#parts
    const { routed: before = new Set(), throttles = new Map<string, unknown>() } = this.#options
    const fresh = [...settings.routed].filter((fn) => !before.has(fn))
    const limited = new Set([...throttles.keys(), ...settings.throttles.keys()])
    this.#options = { ...this.#options, ...settings }
    retryPolicy.configure(settings.routes)
    agedJobs.configure(settings.routes)
    limits.configure(settings.throttles)
    routeChanges.apply(settings.homes, fresh, this.#attended())
    for (const limit of limited) events.emit('throttleReleased', limit)
  }

  /** The routes, by function. */
  get routes(): ReadonlyMap<string, RouteTerms> {
    return this.#options.routes ?? new Map()
  }

  /** Called when the store has lost this node's state; returns a function that unsubscribes. */
  onStoreReset(reminder: () => Promise<void> | void): () => void {
    return this.#parts.events.on('storeReset', reminder)
  }

  /** Called when the store answers again, and events were missed; returns a function that unsubscribes. */
  onReconnected(listener: () => void): () => void {
    return this.#parts.events.on('reconnected', listener)
  }

  /** Called when an operator closes a lane to consumers; returns a function that unsubscribes. */
  onLaneClosed(listener: (lane: string) => void): () => void {
    return this.#parts.events.on('laneClosed', listener)
  }

  /** True for a lane that is neither registered nor on its way to be. */
  isNewLane(lane: string): boolean {
    const { registry, registrar } = this.#parts
    return registry.numberOf(lane) === undefined && !registrar.registers(lane)
  }

  /** Called when a lane leaves the registry; returns a function that unsubscribes. */
  onLaneDropped(listener: (lane: string) => void): () => void {
    return this.#parts.events.on('laneRemoved', listener)
  }

  /** From now on no worker gets a job or is woken; outcomes are still taken. */
  drain(): void {
    this.#parts.claims.stop()
    this.#parts.wakeups.idle.close()
  }

  /** Jobs held by this node's workers. */
  get running(): number {
    return this.#parts.activeLeases.size
  }

  /** True if a worker of this node holds a job by this token, as far as this node knows. */
  isHeld(token: string): boolean {
    return this.#parts.activeLeases.has(token)
  }

  /** Resolves when no worker of this node holds a job. */
  whenIdle(): Promise<void> {
    return this.#parts.activeLeases.whenEmpty()
  }

  /** Leaves the nodes; jobs held by this node's Gearman workers go back. */
  async stop(): Promise<void> {
    this.#parts.claims.stop()
    this.leases.close()
    this.#parts.subscriptions.stop()
    this.#parts.reclaimer.stop()
    this.#parts.tasks.stop()
    await this.#parts.leaseStarts.settle()
    await this.#store.nodes.leave([...this.registry.all()])
  }

  /**
   * Submits a job to a lane; answered when the store has it. It waits for `ready`, if given; later
   * jobs for its queue wait behind it.
   */
  submit(lane: string, submission: Submission, ready?: Promise<unknown>): void {
    const { fn } = this.registry.names.parse(lane)
    const { traced } = this.#options
    const handedIn = traced ? traced(lane, submission) : submission
    this.#parts.submissions.add(lane, handedIn, this.routes.get(fn), ready)
    if (submission.waiter) this.#parts.subscriptions.touch()
  }

  /**
   * Puts another job into the place of one that does not run: both, or neither. The terms of its function's route hold for it
   * as for a new one, and an age that is over begins anew.
   */
  replace(old: Job, changes: Replacement): Promise<Replaced> {
    const { registry, admin } = this.#parts
    const place = registry.names.parse(old.lane)
    const route = this.routes.get(place.fn) ?? {}
    const nowMs = this.storeNowMs()
    const { staleAtMs = 0, ...unaged } = { ...old, ...changes }
    const aged = staleAtMs > nowMs ? { ...unaged, staleAtMs } : unaged
    const { turn, staleAtMs: untilMs, diesStale } = withTerms(aged, route, nowMs, place)
    return admin.replace(old, {
      ...changes,
      ...(turn !== undefined && { turn }),
      ...(untilMs !== undefined && { staleAtMs: untilMs }),
      ...(diesStale && { diesStale }),
    })
  }

  /** Runs a task, now or later, when fewer items wait for the store: for work of those who send much, so that others pass. */
  whenRoom(items: number, task: () => void): void {
    this.#parts.steps.whenRoom(items, task)
  }

  /** Claims one job. The answer comes at once, with a job or without. */
  claim(request: FetchRequest): void {
    this.#parts.claims.add(request)
  }

  complete(assignment: Assignment, output: Uint8Array, settlement?: Settlement): void {
    const { job } = assignment
    const { lane, id, token } = job
    const outcome = { lane, id, token, kind: 'complete', output, job } as const
    this.#parts.outcomes.add(assignment, outcome, settlement)
  }

  /**
   * A failure that the worker reports; the job's policy decides if it is final, due again or dead.
   */
  fail(assignment: Assignment, report: FailureReport, settlement?: Settlement): void {
    this.#parts.outcomes.fail(assignment, report, settlement)
  }

  /** Keeps an outcome whose job could not be looked up, until the store is back; false where too much is kept. */
  keepOutcome(kept: KeptOutcome): boolean {
    return this.#parts.keptOutcomes.add(kept)
  }

  /** The worker will not finish the job. `lost`: it vanished or ran out of time. */
  release(assignment: Assignment, lost: boolean, settlement?: Settlement): void {
    const { lane, id, token } = assignment.job
    const { outcomes, retryPolicy } = this.#parts
    const released = { lane, id, token, kind: 'requeue' } as const
    const outcome = lost
      ? ({ ...released, lost, ...retryPolicy.ofLoss() } as const)
      : ({ ...released, lost } as const)
    outcomes.add(assignment, outcome, settlement)
  }

  /** The lease of a by-name worker lasts from now on as long as the worker is connected. */
  liftDeadline({ job }: Assignment): void {
    this.#parts.leaseStarts.add(job, Infinity)
  }

  /** Forwards a running job's report to its waiters. */
  report(report: Report, reporting: Reporting): void {
    this.#parts.outcomes.addReport(report, reporting)
  }

  /**
   * Adds an idle worker. `look`: it is woken now if there is a job; a worker that knows better (see {@link arrivals}) skips
   * that. `again`: it was woken for nothing and keeps its place in line.
   */
  addIdle(worker: IdleWorker, look: boolean, again = false): void {
    this.#parts.wakeups.idle.add(worker, again)
    // After the claims of this turn: a worker is not woken for the job that it was just given.
    if (look && !this.#parts.claims.mayBeLeftAsleep(worker.subscription))
      this.#clock.endOfTurn(() => void this.#parts.idleSearch.lookFor(worker))
    // The wish list is as long as the functions of all workers.
    if (!this.#parts.searches.of(worker.subscription)?.isHeard) this.#parts.subscriptions.touch()
  }

  /** Grows with each wake-up for a subscription: an equal figure means that nothing came. */
  arrivals(subscription: Subscription): number {
    return this.#parts.wakeups.arrivals.of(subscription)
  }

  /** The worker is no longer idle, or gone. */
  removeIdle(worker: IdleWorker): void {
    this.#parts.wakeups.idle.remove(worker)
  }

  /** `takesTurns`: a function goes behind the others with each of its jobs. The worker tells the turns of its many functions. */
  namedSubscription(abilities: readonly Ability[], takesTurns = false): Subscription {
    const base = namedSubscription(abilities, this.registry, this.#options.functionOrder)
    if (!takesTurns || abilities.length <= fewFunctions) return base
    return inTurns(base, `t#${(this.#unshared += 1)}`)
  }

  consumerSubscription(queues: readonly string[], functions?: ReadonlySet<string>): Subscription {
    const access = this.#options.bridge === 'routed' ? 'opened' : 'auto'
    const isShared = queues.length <= maxSharedQueues
    const key = isShared ? undefined : `c#${(this.#unshared += 1)}`
    return consumerSubscription(queues, this.registry, { functions, access, key })
  }

  /** Counts a by-name worker of a function or lane: +1 or -1. */
  countNamed(fn: string, change: 1 | -1): void {
    const lane = this.registry.names.canonical(fn)
    this.#parts.counts.named(lane, change)
    if (change === 1) {
      this.#parts.registrar
        .register(lane)
        .catch((error: unknown) => this.#observer.error('new lane', error))
    }
  }

  /** Counts a Faktory consumer of a queue: +1 or -1. `functions`: those of its labels, if any. */
  countConsumer(queue: string, change: 1 | -1, functions?: ReadonlySet<string>): void {
    this.#parts.counts.consumer(queue, change, functions)
  }

  /** Opens a lane to Faktory consumers for good, for an operator or a route: it stays for a while without jobs. */
  async openKeptLane(lane: string): Promise<void> {
    await this.openLane(lane)
    await this.#store.lanes.keep(lane)
  }

  /** Opens a lane to Faktory consumers for a producer. */
  async openLane(lane: string): Promise<void> {
    await this.#parts.registrar.register(lane)
    await this.#store.lanes.open(lane)
  }

  /** Closes it until a route, a producer or an operator opens it. */
  async closeLane(lane: string): Promise<void> {
    await this.#parts.registrar.register(lane)
    await this.#store.lanes.close(lane)
  }

  /** The client no longer waits for these jobs. */
  abandon(waiter: Waiter, refs: Iterable<JobRef>): void {
    const { waiters, submissions } = this.#parts
    for (const [lane, ids] of waiters.removeAll(waiter, refs)) submissions.abandon(lane, ids)
  }

  /** Stores a worker's note on its job; false if the worker has lost it. */
  note({ job }: Assignment, note: JobNote): Promise<boolean> {
    return this.#store.queues.note(job, job.token, note)
  }

  /** Stores a note on a job that no consumer holds; false if the job is gone. */
  annotate(ref: JobRef, note: Omit<JobNote, 'reserveUntilMs'>): Promise<boolean> {
    return this.#store.queues.note(ref, undefined, note)
  }

  /** A consumer's lease from another node as an assignment, for outcomes by jid. */
  lookupLease(job: JobState): Assignment | undefined {
    return consumerLease(job, this.#clock.nowMs())
  }

  /** The store's clock, milliseconds since 1970, as of the last heartbeat. */
  storeNowMs(): number {
    return this.#parts.heartbeat.storeNowMs()
  }

  /** Last heartbeat of each node, milliseconds since 1970 on the store's clock. */
  get nodes(): ReadonlyMap<string, number> {
    return this.#parts.heartbeat.nodes
  }

  check(): Promise<void> {
    return this.#store.check()
  }

  async #openRouted(): Promise<void> {
    for (const fn of this.#options.routed ?? []) await this.openKeptLane(fn)
    for (const fn of this.#attended()) await this.admin.addLane(fn)
  }

  /** Functions whose workers are counted before the first job comes. */
  #attended(): readonly string[] {
    return [...this.routes].flatMap(([fn, { needsWorker }]) => (needsWorker === true ? [fn] : []))
  }
}
