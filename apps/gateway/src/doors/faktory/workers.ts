import type { Clock, ConsumerNews, Scheduler, WorkerIdentity } from '@crossgear/core-scheduler'
import type { Hello } from '@crossgear/fwp-codec'
import type { ConnectedWorker } from '../net/connected-worker.ts'
import { HandCounts } from '../net/census.ts'
import { type HeldJob, HeldJobs } from './held-jobs.ts'

/** States of a worker, in their only order. */
export const workerStates = ['running', 'quiet', 'terminate'] as const
export type WorkerState = (typeof workerStates)[number]

/** Most queues that a worker is counted for; with labels, most queues of functions. */
const maxCounted = 1_000
/** Memory of a queue that a worker is counted for, besides its name. */
const countedBytes = 200

/** A worker that goes away with jobs. */
export interface GoingAway {
  readonly wid: string | undefined
  /** The reason: the worker got another job after an order to stop, closed its last connection, or lost it. */
  readonly how: Exclude<WorkerState, 'running'> | 'gone' | 'cut off'
  readonly jobs: number
}

/** Fields of BEAT. */
export interface Beat {
  readonly wid: string
  readonly rssKb?: number | undefined
  readonly state?: WorkerState | undefined
}

/** A connection as its worker sees it. */
export interface WorkerConnection {
  /** Address and port of its peer. */
  readonly peer: string
  /** The worker takes no more jobs: waiting FETCH commands are answered without one. */
  quieted(): void
  /** The worker was taken for dead. */
  drop(): void
}

/** A holder of jobs: all connections with one wid, or one connection without. */
export class Worker {
  readonly wid: string | undefined
  /** Unique among workers of this node. */
  readonly number: number
  /** Identity for limits per worker. */
  readonly identity: WorkerIdentity
  /** The name of the worker as a holder of leases. */
  readonly holder: string
  /** The HELLO of the worker. */
  readonly hello: Hello
  readonly held = new HeldJobs()
  readonly connections = new Set<WorkerConnection>()
  readonly #scheduler: Scheduler
  /** Each with the functions of the labels of the connection that fetched first. */
  readonly #queues = new Map<string, ReadonlySet<string> | undefined>()
  #counted = 0
  #state: WorkerState = 'running'
  /** When it was last heard of, milliseconds. */
  lastBeatMs: number
  /** When it closed its last connection, milliseconds; undefined while it has one anywhere, or if a gateway closed the last. */
  goneMs: number | undefined
  /** True once the worker was taken for dead. */
  isReaped = false
  rssKb = 0

  constructor(hello: Hello, number: number, scheduler: Scheduler, nowMs: number) {
    const { wid } = hello
    this.wid = wid
    this.number = number
    this.identity =
      wid === undefined ? { name: `f${number}`, isShared: false } : { name: wid, isShared: true }
    this.holder = scheduler.holders.nameOf(wid)
    this.hello = hello
    this.#scheduler = scheduler
    this.lastBeatMs = nowMs
  }

  get state(): WorkerState {
    return this.#state
  }

  /** Advances to a later state; never back. */
  advance(state: WorkerState): void {
    if (workerStates.indexOf(state) <= workerStates.indexOf(this.#state)) return
    this.#state = state
    for (const connection of this.connections) connection.quieted()
  }

  /** A process connects with the wid of one that has gone: it has no order to stop. */
  startAgain(nowMs: number): void {
    this.#state = 'running'
    this.lastBeatMs = nowMs
    this.goneMs = undefined
    this.isReaped = false
  }

  /** Queues it has fetched from while connected. */
  get queues(): readonly string[] {
    return [...this.#queues.keys()]
  }

  /** Counts the worker once for each queue it fetches from; with labels, for their functions alone. Returns the memory of that. */
  count(queues: readonly string[], functions?: ReadonlySet<string>): number {
    const each = functions?.size ?? 1
    let bytes = 0
    for (const queue of queues) {
      if (this.#queues.has(queue) || this.#counted + each > maxCounted) continue
      this.#queues.set(queue, functions)
      this.#counted += each
      this.#scheduler.countConsumer(queue, 1, functions)
      bytes += queue.length + each * countedBytes
    }
    return bytes
  }

  /** The last connection of a worker ended: the worker counts for no queue until it fetches again. */
  uncount(): void {
    for (const [queue, functions] of this.#queues) {
      this.#scheduler.countConsumer(queue, -1, functions)
    }
    this.#queues.clear()
    this.#counted = 0
  }
}

export interface WorkersOptions {
  readonly scheduler: Scheduler
  readonly clock: Clock
  /** A wid without a BEAT for this long is dead, milliseconds. */
  readonly deadAfterMs: number
  /** A worker that closed all its connections that long ago gives jobs of Faktory producers back. */
  readonly givesBack: boolean
  /** Interval of looks, milliseconds. */
  readonly reapEveryMs: number
  readonly goingAway: (worker: GoingAway) => void
}

/** The workers of this node by wid. */
export class Workers {
  readonly #options: WorkersOptions
  readonly #byWid = new Map<string, Worker>()
  readonly #connected = new Set<Worker>()
  #cancel: (() => void) | undefined
  #reaped = 0
  #joined = 0

  constructor(options: WorkersOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#byWid.size
  }

  /** Workers taken for dead. */
  get reaped(): number {
    return this.#reaped
  }

  all(): Iterable<Worker> {
    return this.#byWid.values()
  }

  /** Connected, fetching workers, by queue and by the functions of their jobs. */
  census() {
    const { names } = this.#options.scheduler.registry
    const [byQueue, byFunction] = [new HandCounts(), new HandCounts()]
    let connections = 0
    for (const worker of this.#connected) {
      const { queues } = worker
      if (queues.length === 0) continue
      connections += worker.connections.size
      const lanes = worker.held.lanes()
      for (const queue of queues) byQueue.add(queue, lanes.size > 0 ? 'busy' : 'idle')
      const functions = new Set([...lanes].map((lane) => names.parse(lane).fn))
      for (const fn of functions) byFunction.add(fn, 'busy')
    }
    return { connections, byQueue: byQueue.counts, byFunction: byFunction.counts }
  }

  /** All with a wid, and others that fetch. */
  *connectedWorkers(): Generator<ConnectedWorker> {
    for (const worker of new Set([...this.#byWid.values(), ...this.#connected])) {
      const { wid, number, hello, state, queues, connections, rssKb, held } = worker
      const { lastBeatMs, goneMs } = worker
      if (wid === undefined && queues.length === 0 && held.size === 0) continue
      const [first] = connections
      const { hostname, pid, labels } = hello
      yield {
        name: `f${number}`,
        door: 'faktory',
        calledItself: wid ?? '',
        wid,
        hostname,
        pid,
        labels,
        state,
        functions: [],
        queues,
        connections: connections.size,
        rssKb,
        address: first?.peer,
        lastBeatMs: wid === undefined ? undefined : lastBeatMs,
        goneMs,
        jobs: held.assignments(),
      }
    }
  }

  find(wid: string): Worker | undefined {
    return this.#byWid.get(wid)
  }

  /** A connection said HELLO. */
  join(hello: Hello, connection: WorkerConnection): Worker {
    const { scheduler, clock } = this.#options
    const { wid } = hello
    const nowMs = clock.nowMs()
    const known = wid === undefined ? undefined : this.#byWid.get(wid)
    this.#joined += 1
    const worker = known ?? new Worker(hello, this.#joined, scheduler, nowMs)
    if (worker.connections.size === 0) {
      worker.startAgain(nowMs)
      scheduler.holders.connected(worker.holder)
      // Another node may wait for it, with jobs of a connection that ended.
      if (wid !== undefined) void scheduler.queues.notify(wid, 'back')
    }
    worker.connections.add(connection)
    this.#connected.add(worker)
    if (wid !== undefined) this.#byWid.set(wid, worker)
    return worker
  }

  /** A connection ended. `byPeer`: the worker closed it, or its end broke it off. */
  leave(worker: Worker, connection: WorkerConnection, byPeer: boolean): void {
    if (!worker.connections.delete(connection) || worker.connections.size > 0) return
    const { scheduler, clock, goingAway } = this.#options
    const { wid, holder, held } = worker
    this.#connected.delete(worker)
    worker.uncount()
    scheduler.holders.disconnected(holder, byPeer)
    if (byPeer) {
      worker.goneMs = clock.nowMs()
      if (wid !== undefined) void scheduler.queues.notify(wid, 'gone')
    }
    const jobs = [...held.assignments()].length
    if (jobs > 0) goingAway({ wid, how: byPeer ? 'gone' : 'cut off', jobs })
    if (held.size === 0) this.#forget(worker)
  }

  /** A worker's BEAT. Undefined if it is unknown here. */
  beat({ wid, rssKb, state }: Beat): Worker | undefined {
    const worker = this.find(wid)
    if (!worker) return undefined
    worker.lastBeatMs = this.#options.clock.nowMs()
    worker.goneMs = undefined
    if (rssKb !== undefined) worker.rssKb = rssKb
    if (state !== undefined) worker.advance(state)
    return worker
  }

  /**
   * News of a worker: a sign of life, a new connection or the end of its last one at another node, a job settled elsewhere, or an
   * operator's order, with `*` for all connected ones.
   */
  onNews(wid: string, news: ConsumerNews): void {
    const { clock, scheduler } = this.#options
    const worker = this.find(wid)
    if (news === 'alive') this.beat({ wid })
    else if (news === 'back') {
      if (worker?.connections.size === 0) worker.goneMs = undefined
    } else if (news === 'gone') {
      if (worker?.connections.size === 0) worker.goneMs ??= clock.nowMs()
      else if (worker) void scheduler.queues.notify(wid, 'back')
    } else if (typeof news === 'object') worker?.held.forget(news.settled)
    else if (wid !== '*') worker?.advance(news)
    else for (const worker of this.all()) worker.advance(news)
  }

  /** No worker gets a job any more. */
  drained(): void {
    for (const worker of this.#connected) {
      for (const connection of worker.connections) connection.quieted()
    }
  }

  /** Starts looking for dead workers. */
  watch(): void {
    const { clock, reapEveryMs } = this.#options
    this.#cancel = clock.after(reapEveryMs, () => {
      this.#reap()
      this.watch()
    })
  }

  stop(): void {
    this.#cancel?.()
  }

  #reap(): void {
    const { clock, deadAfterMs } = this.#options
    const overdueMs = clock.nowMs() - deadAfterMs
    for (const worker of this.#byWid.values()) {
      if (worker.connections.size === 0) this.#lookAtAbsent(worker, overdueMs)
      else if (worker.lastBeatMs <= overdueMs) {
        this.#countReaped(worker)
        for (const connection of worker.connections) connection.drop()
      }
    }
  }

  /**
   * A worker that went away gives its jobs back once it has been away for long enough. A worker that was cut off keeps them: a job may
   * keep its process from all else. Either is known while it may have jobs.
   */
  #lookAtAbsent(worker: Worker, overdueMs: number): void {
    const { scheduler, givesBack } = this.#options
    const isDead = worker.goneMs !== undefined && worker.goneMs <= overdueMs
    if (isDead) this.#countReaped(worker)
    if (isDead && givesBack) this.#giveBack(worker.held.ofProducers())
    if (!worker.held.some(({ token }) => scheduler.isHeld(token))) this.#forget(worker)
  }

  #countReaped(worker: Worker): void {
    if (!worker.isReaped) this.#reaped += 1
    worker.isReaped = true
  }

  /** Jobs that the store does not take back are tried again at the next look. */
  #giveBack(jobs: readonly HeldJob[]): void {
    for (const job of jobs) {
      const settled = (): void => void (job.fenced = true)
      this.#options.scheduler.release(job.assignment, true, { settled, refused: () => undefined })
    }
  }

  /** The store was away, and with it the signs of life at other nodes: time begins anew. */
  storeIsBack(): void {
    const nowMs = this.#options.clock.nowMs()
    for (const worker of this.#byWid.values())
      if (worker.goneMs !== undefined) worker.goneMs = nowMs
  }

  /** The wid of a connection that ended may belong to another worker by now. */
  #forget(worker: Worker): void {
    const { wid } = worker
    if (wid !== undefined && this.#byWid.get(wid) === worker) this.#byWid.delete(wid)
  }
}
