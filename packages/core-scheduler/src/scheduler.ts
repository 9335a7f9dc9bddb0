import type { BatchStore } from './batch-ports.ts'
import type { CronStore } from './cron-ports.ts'
import { Administration } from './administration.ts'
import { JobLookup } from './job-lookup.ts'
import { JobSets } from './job-sets.ts'
import { QueueControl } from './queue-control.ts'
import type { IdleWorker } from './idle-workers.ts'
import { InHand } from './in-hand.ts'
import { consumerInterest, namedInterest } from './interest.ts'
import type { Ability, Interest } from './interest.ts'
import type { Job, JobEvent, JobRef, Report } from './job.ts'
import { LaneRegistry } from './lane-registry.ts'
import { LaneNames } from './lanes.ts'
import { NativeCare } from './native-care.ts'
import { Outcomes } from './outcomes.ts'
import { Claims } from './claims.ts'
import type { SchedulerOptions } from './scheduler-options.ts'
import { Submissions } from './submissions.ts'
import type { Clock, Observer, Store } from './ports.ts'
import type { JobNote } from './queue-ports.ts'
import type { Assignment, Claimant, Reporting, Settlement, Submission } from './requests.ts'
import type { FailureReport } from './retry.ts'
import { Upkeep } from './upkeep.ts'
import { Verdicts } from './verdicts.ts'
import { Waiters, type Waiter } from './waiters.ts'
import { Wakeups } from './wakeups.ts'
import { WatchList } from './watch-list.ts'
import { WorkerCounts } from './worker-counts.ts'

const mostHeardFunctions = 8

/**
 * The meaning between doors and store: who gets which job, who is woken, who hears the outcome. It
 * knows no protocol and holds nothing that another node needs.
 */
export class Scheduler {
  readonly registry: LaneRegistry
  /** What an operator asks for. */
  readonly admin: Administration
  /** Faktory queues as wholes. */
  readonly queues: QueueControl
  readonly batches: BatchStore
  readonly cron: CronStore
  /** Scheduled, retried and dead jobs. */
  readonly sets: JobSets
  readonly jobs: JobLookup
  readonly #store: Store
  readonly #clock: Clock
  readonly #observer: Observer
  readonly #options: SchedulerOptions
  readonly #wakeups: Wakeups
  readonly #verdicts: Verdicts
  readonly #waiters = new Waiters()
  readonly #inHand = new InHand()
  readonly #submissions: Submissions
  readonly #claims: Claims
  readonly #outcomes: Outcomes
  readonly #counts: WorkerCounts
  readonly #watch: WatchList
  readonly #upkeep: Upkeep
  readonly #whenIdle: (() => void)[] = []
  #armed = false

  constructor(store: Store, clock: Clock, observer: Observer, options: SchedulerOptions = {}) {
    this.#store = store
    this.batches = store.batches
    this.cron = store.cron
    this.#clock = clock
    this.#observer = observer
    this.#options = options
    this.registry = new LaneRegistry(new LaneNames(options.homes))
    const arm = (): void => this.#arm()
    this.#wakeups = new Wakeups(this.registry, clock, options.wakeups ?? 1)
    const { idle, stirs } = this.#wakeups
    const wake = (lane: string, jobs: number): void => this.#wakeups.wake(lane, jobs)
    this.#verdicts = new Verdicts({
      names: this.registry.names,
      retries: options.retries,
      random: options.random ?? Math.random,
      storeNowMs: () => this.storeNowMs(),
    })
    const tell = (ref: JobRef, event: JobEvent): void => this.#waiters.tell(ref, event)
    this.#submissions = new Submissions({
      store,
      clock,
      observer,
      arm,
      wake: (lane, jobs) => this.#wakeups.wake(lane, jobs, true),
      registry: this.registry,
      waiters: this.#waiters,
      isWatched: (lane) => this.#watch.covers(lane),
      sending: (lane, jobs) => this.#anticipate(lane, jobs),
      storeNowMs: () => this.storeNowMs(),
    })
    this.admin = new Administration({
      store,
      tell,
      registry: this.registry,
      register: (lane) => this.#submissions.laneNumber(lane),
      settled: async () => {
        await Promise.all([this.#submissions.registered(), this.#counts.told()])
        await new Promise<void>((resolve) => clock.endOfTurn(resolve))
      },
    })
    this.queues = new QueueControl({ store, tell, registry: this.registry })
    this.jobs = new JobLookup(store, this.registry)
    this.sets = new JobSets({ store, tell, registry: this.registry })
    this.#outcomes = new Outcomes({
      store,
      clock,
      observer,
      arm,
      inHand: this.#inHand,
      wake,
      tell,
      settled: () => this.#checkIdle(),
    })
    this.#claims = new Claims({
      store,
      clock,
      observer,
      arm,
      inHand: this.#inHand,
      registry: this.registry,
      putBack: (assignment) => this.release(assignment, false),
      giveBack: ({ lane, id, token }) =>
        this.#outcomes.add(undefined, { lane, id, token, kind: 'return' }),
      mayClaimAhead: (options.maxLosses ?? 0) === 0,
      stirs,
      isHeard: (interest) => this.#isHeard(interest),
      unpaused: (groups) => this.queues.unpaused(groups),
      roomAgain: (queue) => this.#upkeep.wakeQueue(queue),
    })
    this.#watch = new WatchList(
      clock,
      () => this.#upkeep.wantedLanes(),
      (lanes) => store.watch(lanes),
      (fresh) => this.#upkeep.catchUp(fresh),
      (error) => observer.trouble('watch', error),
    )
    this.#counts = new WorkerCounts(store, this.registry, (task, error) =>
      observer.trouble(task, error),
    )
    const maxLosses = options.maxLosses ?? 0
    const care = new NativeCare({
      store,
      clock,
      observer,
      maxLosses,
      registry: this.registry,
      repair: options.repair,
      register: (lane) => this.#submissions.laneNumber(lane),
      settleNative: async (lane, ids) => {
        for (const job of await store.read(lane, ids))
          if (job) this.#outcomes.add(undefined, this.#verdicts.ofNative(job))
      },
    })
    this.#upkeep = new Upkeep({
      care,
      maxLosses,
      store,
      clock,
      observer,
      wake,
      stir: (lane) => this.#wakeups.stir(lane),
      tell,
      registry: this.registry,
      idle,
      waiters: this.#waiters,
      watch: this.#watch,
      counts: this.#counts,
      submissions: this.#submissions,
      loadPauses: () => this.queues.load(),
      ordered: (wid, order) => this.queues.ordered(wid, order),
      settle: (outcome) => this.#outcomes.add(undefined, outcome),
      outcomeOf: (job, report) => this.#verdicts.ofFailure(job, report),
      settleNative: (job) => this.#outcomes.add(undefined, this.#verdicts.ofNative(job)),
      recount: () => this.#recount(),
      retryReleases: () => this.#outcomes.retryReleases(),
    })
  }

  /** Learns the lanes and joins the nodes. Throws where the store cannot be reached. */
  async start(): Promise<void> {
    await this.#upkeep.start()
    await this.queues.load()
    for (const fn of this.#options.routed ?? []) await this.openLane(fn)
  }

  /** From now on no worker is given a job; outcomes of those handed out are taken. */
  drain(): void {
    this.#claims.stop()
  }

  /** Jobs in the hands of this node's workers. */
  get running(): number {
    return this.#inHand.size
  }

  /** Resolves when no worker of this node has a job. */
  whenIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve)
      this.#checkIdle()
    })
  }

  /** Leaves the nodes; what is still held by Gearman workers of this node goes back. */
  async stop(): Promise<void> {
    this.#claims.stop()
    await this.#upkeep.stop()
  }

  /** Hands in a job for a lane. The answer comes when the store has it. */
  submit(lane: string, submission: Submission): void {
    const { fn } = this.registry.names.parse(lane)
    this.#submissions.add(lane, submission, {
      retries: this.#options.retries?.get(fn),
      retentionSeconds: this.#options.retentionSeconds?.get(fn),
    })
    if (submission.waiter) this.#watch.touch()
  }

  /** Asks for one job. The answer comes at once, with a job or without. */
  claim(claimant: Claimant): void {
    this.#claims.add(claimant)
  }

  complete(assignment: Assignment, output: Uint8Array, settlement?: Settlement): void {
    const { lane, id, token } = assignment.job
    this.#outcomes.add(assignment, { lane, id, token, kind: 'complete', output }, settlement)
  }

  /** A failure that the worker reports: final, due again or dead by the job's policy. */
  fail(assignment: Assignment, report: FailureReport, settlement?: Settlement): void {
    this.#outcomes.add(assignment, this.#verdicts.ofFailure(assignment.job, report), settlement)
  }

  /** The worker will not finish it. `lost` says that it vanished or ran out of time. */
  release(assignment: Assignment, lost: boolean, settlement?: Settlement): void {
    const { lane, id, token } = assignment.job
    const maxLosses = this.#options.maxLosses ?? 0
    this.#outcomes.add(
      assignment,
      { lane, id, token, kind: 'release', lost, maxLosses },
      settlement,
    )
  }

  /** Passes what a running job says to those who wait for it. */
  report(report: Report, reporting: Reporting): void {
    this.#outcomes.addReport(report, reporting)
  }

  /**
   * A worker goes idle and is woken when there may be a job; with `look` at once if there is one
   * now. A worker that knows of its own that there was none (see {@link stirs}) need not look. One
   * that was woken for nothing sleeps `again`, and keeps its place in the line.
   */
  sleep(worker: IdleWorker, look: boolean, again = false): void {
    this.#wakeups.idle.add(worker, again)
    // Behind the claims of this turn: what the worker has just been given does not wake it.
    if (look && !this.#claims.isKnownEmpty(worker.interest))
      this.#clock.endOfTurn(() => this.#upkeep.lookFor(worker))
    this.#watch.touch()
  }

  /** Grows with each wake-up for what an interest covers: the same figure means nothing came. */
  stirs(interest: Interest): number {
    return this.#wakeups.stirs.of(interest)
  }

  /** The worker is idle no more, or gone. */
  rouse(worker: IdleWorker): void {
    this.#wakeups.idle.remove(worker)
  }

  namedInterest(abilities: readonly Ability[]): Interest {
    return namedInterest(abilities, this.registry)
  }

  consumerInterest(queues: readonly string[], functions?: ReadonlySet<string>): Interest {
    return consumerInterest(queues, this.registry, functions)
  }

  /** A by-name worker came for a function or lane (+1), or left (-1). */
  countNamed(fn: string, change: 1 | -1): void {
    const lane = this.registry.names.canonical(fn)
    this.#counts.named(lane, change)
    if (change === 1) {
      this.#submissions
        .laneNumber(lane)
        .catch((error: unknown) => this.#observer.trouble('new lane', error))
    }
  }

  /** A Faktory consumer came for a queue (+1), or left (-1). */
  countConsumer(queue: string, change: 1 | -1): void {
    this.#counts.consumer(queue, change)
  }

  /** Opens a lane to Faktory consumers for good: a producer pushed such jobs, or a route says so. */
  async openLane(lane: string): Promise<void> {
    await this.#submissions.laneNumber(lane)
    await this.#store.openLane(lane)
  }

  /** The client waits no longer for these jobs. */
  abandon(waiter: Waiter, refs: Iterable<JobRef>): void {
    const byLane = new Map<string, number[]>()
    for (const { lane, id } of refs) {
      if (!this.#waiters.remove(lane, id, waiter)) continue
      const ids = byLane.get(lane)
      if (ids) ids.push(id)
      else byLane.set(lane, [id])
    }
    for (const [lane, ids] of byLane) this.#submissions.abandon(lane, ids)
  }

  /** Keeps what a worker notes on its job; false where it has lost it. */
  note({ job }: Assignment, note: JobNote): Promise<boolean> {
    return this.#store.queues.note(job, job.token, note)
  }

  /** A consumer's reservation that this node did not hand out, as one that it did: for outcomes by jid. */
  adopt(job: Job): Assignment | undefined {
    // A by-name worker's reservation is ended by its own words alone; a token names its kind first.
    if (!job.token?.startsWith('c')) return undefined
    return {
      job: { ...job, token: job.token, heldBy: 'consumer' },
      sinceMs: this.#clock.nowMs(),
      adopted: true,
    }
  }

  /** The store's clock, milliseconds since 1970, as of the last heartbeat. */
  storeNowMs(): number {
    return this.#upkeep.storeNowMs()
  }

  check(): Promise<void> {
    return this.#store.check()
  }

  /** Jobs that ended elsewhere are not waited for. */
  async #recount(): Promise<void> {
    await this.#inHand.prune(this.#store, this.#clock.nowMs(), this.#whenIdle.length > 0)
    this.#checkIdle()
  }

  #checkIdle(): void {
    if (this.running > 0 || this.#whenIdle.length === 0) return
    for (const resolve of this.#whenIdle.splice(0)) resolve()
  }

  /** Jobs of a lane leave for the store, and a sleeping worker by name will be woken for them. */
  #anticipate(lane: string, jobs: number): void {
    const worker = this.#wakeups.nextByName(lane)
    if (worker) this.#claims.anticipate(worker.interest, jobs)
  }

  /** Of workers that named so many functions it is not worth finding out. */
  #isHeard(interest: Interest): boolean {
    if (!this.#upkeep.isUp || interest.idleKeys.length > mostHeardFunctions) return false
    const isCovered = (lane: string): boolean => this.#watch.covers(lane)
    return interest.groups(this.registry).every(({ lanes }) => lanes.every(isCovered))
  }

  /** One end of turn for all, in the order in which a connection may have asked. */
  #arm(): void {
    if (this.#armed) return
    this.#armed = true
    this.#clock.endOfTurn(() => {
      this.#armed = false
      this.#outcomes.flush()
      this.#submissions.flush()
      this.#claims.flush()
    })
  }
}
