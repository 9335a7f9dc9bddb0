import type { BatchStore } from './batch-ports.ts'
import type { CronStore } from './cron-ports.ts'
import { Administration } from './administration.ts'
import { JobSets } from './job-sets.ts'
import { QueueControl } from './queue-control.ts'
import { IdleWorkers, type IdleWorker } from './idle-workers.ts'
import { consumerInterest, idleKeysOf, namedInterest } from './interest.ts'
import type { Ability, IdleKeys, Interest } from './interest.ts'
import type { Job, JobEvent, JobRef, Outcome, Report } from './job.ts'
import { LaneRegistry } from './lane-registry.ts'
import { LaneNames } from './lanes.ts'
import { NativeCare, type RepairPolicy } from './native-care.ts'
import { Outcomes } from './outcomes.ts'
import { Claims } from './claims.ts'
import { Stirs } from './stirs.ts'
import { Submissions } from './submissions.ts'
import type { Clock, LaneCounts, Observer, Store } from './ports.ts'
import type { JobNote } from './queue-ports.ts'
import type { Assignment, Claimant, Reporting, Settlement, Submission } from './requests.ts'
import { outcomeOfFailure, type FailureReport } from './retry.ts'
import { Upkeep } from './upkeep.ts'
import { Waiters, type Waiter } from './waiters.ts'
import { WatchList } from './watch-list.ts'
import { WorkerCounts } from './worker-counts.ts'

/** What the operator decides. Defaults at the end of each line. */
export interface SchedulerOptions {
  /** Home queue by function, where it is not `default`. None. */
  readonly homes?: ReadonlyMap<string, string>
  /** Functions that are open to Faktory consumers whoever else works on them. None. */
  readonly routed?: ReadonlySet<string>
  /** Retries by function, over what the door says. None. */
  readonly retries?: ReadonlyMap<string, number>
  /** Seconds that a finished job stays, by function. None. */
  readonly retentionSeconds?: ReadonlyMap<string, number>
  /** Workers that a job may lose before it is given up; 0 is no limit. 0. */
  readonly maxLosses?: number
  /** Idle workers woken per job; 0 wakes all of the function. 1. */
  readonly wakeups?: number
  /** What is done about what native programs leave behind when they die. Nothing. */
  readonly repair?: RepairPolicy
  /** In [0, 1), for retry delays. Math.random. */
  readonly random?: () => number
}

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
  readonly #store: Store
  readonly #clock: Clock
  readonly #observer: Observer
  readonly #options: SchedulerOptions
  readonly #idle = new IdleWorkers()
  readonly #waiters = new Waiters()
  readonly #submissions: Submissions
  readonly #claims: Claims
  readonly #outcomes: Outcomes
  readonly #counts: WorkerCounts
  readonly #watch: WatchList
  readonly #upkeep: Upkeep
  readonly #stirs = new Stirs()
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
    const wake = (lane: string, jobs: number): void => this.#wake(lane, jobs)
    const tell = (ref: JobRef, event: JobEvent): void => this.#waiters.tell(ref, event)
    this.#submissions = new Submissions({
      store,
      clock,
      observer,
      arm,
      wake: (lane, jobs) => this.#wake(lane, jobs, true),
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
    this.sets = new JobSets({ store, tell, registry: this.registry })
    this.#outcomes = new Outcomes({
      store,
      clock,
      observer,
      arm,
      wake,
      tell,
      settled: () => this.#checkIdle(),
    })
    this.#claims = new Claims({
      store,
      clock,
      observer,
      arm,
      registry: this.registry,
      putBack: (assignment) => this.release(assignment, false),
      giveBack: ({ lane, id, token }) =>
        this.#outcomes.add(undefined, { lane, id, token, kind: 'return' }),
      mayClaimAhead: (options.maxLosses ?? 0) === 0,
      stirs: this.#stirs,
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
        for (const job of await store.read(lane, ids)) if (job) this.#settleNative(job)
      },
    })
    this.#upkeep = new Upkeep({
      care,
      maxLosses,
      store,
      clock,
      observer,
      wake,
      stir: (lane) => this.#stir(lane, false),
      tell,
      registry: this.registry,
      idle: this.#idle,
      waiters: this.#waiters,
      watch: this.#watch,
      counts: this.#counts,
      submissions: this.#submissions,
      loadPauses: () => this.queues.load(),
      ordered: (wid, order) => this.queues.ordered(wid, order),
      settle: (outcome) => this.#outcomes.add(undefined, outcome),
      outcomeOf: (job, report) => this.#outcomeOf(job, report),
      settleNative: (job) => this.#settleNative(job),
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
    return this.#claims.handedOut - this.#outcomes.settledCount
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
    this.#outcomes.add(assignment, this.#outcomeOf(assignment.job, report), settlement)
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
    this.#idle.add(worker, again)
    // Behind the claims of this turn: what the worker has just been given does not wake it.
    if (look && !this.#claims.isKnownEmpty(worker.interest))
      this.#clock.endOfTurn(() => this.#upkeep.lookFor(worker))
    this.#watch.touch()
  }

  /** Grows with each wake-up for what an interest covers: the same figure means nothing came. */
  stirs(interest: Interest): number {
    return this.#stirs.of(interest)
  }

  /** The worker is idle no more, or gone. */
  rouse(worker: IdleWorker): void {
    this.#idle.remove(worker)
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

  async read(ref: JobRef): Promise<Job | undefined> {
    const [job] = await this.#store.read(ref.lane, [ref.id])
    return job
  }

  /** The job that a Faktory producer named so, whichever node took it. */
  async findJid(jid: string): Promise<Job | undefined> {
    const ref = await this.#store.findJid(jid, [...this.registry.all()])
    return ref && this.read(ref)
  }

  /** A finished job that is kept, by the jid that its producer gave. */
  findFinished(jid: string): Promise<JobRef | undefined> {
    return this.#store.queues.findFinished(jid, [...this.registry.all()])
  }

  /** Jobs of all functions with this unique id. */
  async findUnique(unique: Uint8Array): Promise<readonly JobRef[]> {
    return this.#store.findUnique(unique, [...this.registry.all()])
  }

  async counts(lanes: Iterable<string> = this.registry.all()): Promise<readonly LaneCounts[]> {
    return this.#store.counts([...lanes])
  }

  /** Keeps what a worker notes on its job; false where it has lost it. */
  note({ job }: Assignment, note: JobNote): Promise<boolean> {
    return this.#store.queues.note(job, job.token, note)
  }

  /** A reservation that this node did not hand out, as one that it did: for outcomes by jid. */
  adopt(job: Job): Assignment | undefined {
    if (job.token === undefined) return undefined
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

  #outcomeOf(job: Job & { readonly token: string }, report: FailureReport): Outcome {
    const routed = this.#options.retries?.get(this.registry.names.parse(job.lane).fn)
    const policy = job.retries ?? routed
    const random = this.#options.random ?? Math.random
    return outcomeOfFailure(
      policy === undefined ? job : { ...job, retries: policy },
      report,
      this.storeNowMs(),
      random(),
    )
  }

  /** What a native worker wrote in a job of another door counts as that worker's outcome. */
  #settleNative(job: Job): void {
    const { lane, id, output = Buffer.alloc(0) } = job
    const token = 'native'
    const report = { message: output.toString(), bytes: output }
    this.#outcomes.add(
      undefined,
      job.status === 'success'
        ? { lane, id, token, kind: 'complete', output }
        : this.#outcomeOf({ ...job, token }, report),
    )
  }

  #checkIdle(): void {
    if (this.running > 0 || this.#whenIdle.length === 0) return
    for (const resolve of this.#whenIdle.splice(0)) resolve()
  }

  /** Workers by name and consumers are woken alike: the lane may be closed to the latter. */
  #wake(lane: string, jobs: number, own = false): void {
    const { byName, byQueue } = this.#stir(lane, own)
    if (this.#idle.size === 0) return
    const { wakeups = 1 } = this.#options
    const count = wakeups === 0 ? Infinity : jobs * wakeups
    this.#idle.wake(byName, count)
    this.#idle.wake([byQueue], count)
  }

  #stir(lane: string, own: boolean): IdleKeys {
    const keys = idleKeysOf(lane, this.registry)
    this.#stirs.add([...keys.byName, keys.byQueue], own)
    return keys
  }

  /** Jobs of a lane leave for the store, and a sleeping worker by name will be woken for them. */
  #anticipate(lane: string, jobs: number): void {
    if (this.#idle.size === 0) return
    const worker = this.#idle.next(idleKeysOf(lane, this.registry).byName)
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
