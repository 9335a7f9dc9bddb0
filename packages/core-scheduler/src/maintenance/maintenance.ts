import { DeadNodes } from './dead-nodes.ts'
import { NotificationHandler, type NotificationParts } from '../notify/notification-handler.ts'
import type { IdleWorker } from '../dispatch/idle-workers.ts'
import type { LeasedJob } from '../model/job.ts'
import { LaneRounds } from './lane-rounds.ts'
import { relearnLanes } from './relearn-lanes.ts'
import { lossFailure } from '../model/retry.ts'
import type { TaskTimes } from './task-times.ts'
import type { ChannelSubscriptions } from '../notify/channel-subscriptions.ts'

/** How often a node says that it lives, and looks after what others left, milliseconds. */
const beatEveryMs = 1_000
/** How often due jobs are moved into their queues, milliseconds. */
const promoteEveryMs = 100
/**
 * Lanes that one beat looks at for what native programs wrote unheard, and for expired reservations: some 10 us of the
 * store's time each. Where there are more, a beat takes its share of them, so that all have their turn in five.
 */
const lanesPerBeat = 2_000
const beatsPerRound = 5
/** A client that waits so long may wait for a native worker, whose events are heard from then on. */
const watchWaitersAfterMs = 100
/** How often reservations are compared with the store's, milliseconds. */
const orphanLeasesEveryMs = 60_000
/** How often the progress of jobs that native workers run is looked at, milliseconds. */
const progressEveryMs = 250
/** Expired reservations that one beat takes on, per lane. */
const maxExpired = 500

export interface MaintenanceParts extends NotificationParts {
  readonly watch: ChannelSubscriptions
  readonly tasks: TaskTimes
  readonly maxLosses: number
  /** Puts back what the store would not take back before. */
  readonly retryReleases: () => void
  /** Puts back what Faktory workers that are dead hold of other doors. */
  readonly lookForDeadWorkers: () => Promise<void>
  /** Looks which jobs of this node's workers have ended elsewhere. */
  readonly recount: () => Promise<void>
  /** Gives back what the store has as this node's and nobody here knows. */
  readonly returnOrphanLeases: () => Promise<void>
}

/** Background work of a node: beats, promotes, reaps, reclaims, and listens to others. */
export class Maintenance {
  readonly #parts: MaintenanceParts
  readonly #notifications: NotificationHandler
  readonly #deadNodes = new DeadNodes()
  #offsetMs = 0
  #nodes: ReadonlyMap<string, number> = new Map()
  readonly #toHeal: LaneRounds
  readonly #toReap: LaneRounds
  #stopped = false
  #lookingAfter: Promise<void> | undefined
  /** The store has forgotten what this node told it, and has not been told all of it again. */
  #wasReset = false
  readonly #reminders = new Set<() => Promise<void> | void>()
  readonly #cancels = new Map<string, () => void>()

  constructor(parts: MaintenanceParts) {
    this.#parts = parts
    this.#notifications = new NotificationHandler(parts)
    this.#toHeal = new LaneRounds(parts.registry, lanesPerBeat, beatsPerRound)
    this.#toReap = new LaneRounds(parts.registry, lanesPerBeat, beatsPerRound)
  }

  async start(): Promise<void> {
    const { tasks } = this.#parts
    this.#parts.store.listen(this.#notifications)
    await this.#notifications.loadLanes()
    await this.#lookAfter(await this.#sayAlive())
    this.#every('beat', beatEveryMs, () => this.#beat())
    this.#every('promote', promoteEveryMs, () => tasks.time('promote', () => this.#promote()))
    this.#every('waiters', watchWaitersAfterMs, () => this.#watchWaiters())
    this.#every('forgotten', orphanLeasesEveryMs, () => this.#parts.returnOrphanLeases())
    this.#every('progress', progressEveryMs, () => this.#notifications.lookAtProgress())
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#parts.watch.stop()
    for (const cancel of this.#cancels.values()) cancel()
    await this.#parts.store.leave([...this.#parts.registry.all()])
  }

  storeNowMs(): number {
    return this.#parts.clock.nowMs() + this.#offsetMs
  }

  /** The last heartbeat of each node, milliseconds since 1970 on the store's clock. */
  get nodes(): ReadonlyMap<string, number> {
    return this.#nodes
  }

  /** Whether the store answers, and tells what happens. */
  get isUp(): boolean {
    return this.#notifications.isUp
  }

  /** Is called when the store has forgotten what this node told it; what it returns ends that. */
  onStoreReset(reminder: () => Promise<void> | void): () => void {
    this.#reminders.add(reminder)
    return () => this.#reminders.delete(reminder)
  }

  catchUp(fresh: ReadonlySet<string> | 'all'): void {
    void this.#notifications.catchUp(fresh)
  }

  /** Wakes all who wait for jobs of a queue, if there are any. */
  wakeQueue(queue: string): void {
    void this.#notifications.wakeQueue(queue)
  }

  lookFor(worker: IdleWorker): void {
    void this.#notifications.lookFor(worker)
  }

  /** The lanes whose events this node needs: where somebody idles, or waits for a native worker. */
  wantedLanes(): Iterable<string> | 'all' {
    const { idle, registry, waiters, clock, recovery } = this.#parts
    const wanted = new Set<string>(recovery.watched)
    for (const key of idle.keys()) {
      const name = key.slice(1)
      if (key.startsWith('q')) return 'all'
      wanted.add(name)
      if (key.startsWith('f')) for (const lane of registry.ofFunction(name)) wanted.add(lane)
    }
    const beforeMs = clock.nowMs() - watchWaitersAfterMs
    for (const lane of waiters.lanes()) {
      const isOld = waiters.olderThan(lane, beforeMs, 1).length > 0
      if (isOld || recovery.isWorked(lane)) wanted.add(lane)
    }
    return wanted
  }

  /** The next beat does not wait for what this one brings about: others would take this node for dead. */
  async #beat(): Promise<void> {
    const dead = await this.#sayAlive()
    this.#lookingAfter ??= this.#lookAfter(dead)
      .catch((error: unknown) => this.#parts.observer.error('upkeep', error))
      .finally(() => (this.#lookingAfter = undefined))
  }

  /** Returns the nodes that are dead. */
  async #sayAlive(): Promise<readonly string[]> {
    const { store, clock, counts, watch } = this.#parts
    const reply = await store.beat()
    this.#offsetMs = reply.nowMs - clock.nowMs()
    this.#nodes = new Map([[store.node, reply.nowMs], ...reply.heartbeats])
    this.#wasReset ||= reply.wasReclaimed
    if (reply.wasReclaimed) counts.retell()
    else counts.retry()
    this.#parts.retryReleases()
    watch.touch()
    return this.#deadNodes.look(reply.heartbeats, clock.nowMs())
  }

  /** Looks after what others left. It takes long where a server of the store stands still. */
  #lookAfter(dead: readonly string[]): Promise<void> {
    const { recovery, tasks } = this.#parts
    return inTurn([
      () => this.#remind(),
      () => this.#reclaim(dead),
      () => this.#reap(),
      () => this.#parts.lookForDeadWorkers(),
      () => this.#parts.recount(),
      () => tasks.time('heal', () => this.#heal()),
      () => recovery.beat(),
      () => this.#notifications.recover(),
      () => this.#notifications.sweep(),
    ])
  }

  /** A store that lost its data, or took this node for dead, is told what it has to know of it. */
  async #remind(): Promise<void> {
    if (!this.#wasReset) return
    const { store, registry, loadPauses, waiters } = this.#parts
    // A beat meanwhile may say so again.
    this.#wasReset = false
    try {
      await relearnLanes(store, registry)
      await loadPauses()
      for (const [lane, clients] of waiters.clients()) await store.waitAgain(lane, clients)
      for (const reminder of this.#reminders) await reminder()
    } catch (error) {
      this.#wasReset = true
      throw error
    }
  }

  async #reclaim(nodes: readonly string[]): Promise<void> {
    const { store, registry, wake, maxLosses } = this.#parts
    const reclaim = async (node: string): Promise<void> => {
      const failure = lossFailure(this.storeNowMs())
      const lanes = await store.reclaimNode(node, [...registry.all()], maxLosses, failure)
      for (const lane of lanes) wake(lane, 1)
    }
    await inTurn(nodes.map((node) => () => reclaim(node)))
  }

  async #heal(): Promise<void> {
    const { store, bridging } = this.#parts
    const looked = this.#toHeal.next()
    bridging.looked(looked, await store.heal(looked))
  }

  async #reap(): Promise<void> {
    const { store } = this.#parts
    for (const job of await store.expired(this.#toReap.next(), maxExpired)) this.#expire(job)
  }

  /**
   * A worker that ran out of time has lost the job. Only where a Faktory consumer has a Faktory job that
   * is a failure, as there: by the rules of the other doors the first failure would be the job's end.
   */
  #expire(job: LeasedJob): void {
    const { settle, outcomeOf, maxLosses } = this.#parts
    const { lane, id, token, door } = job
    const isLost = job.heldBy === 'named' || door !== 'faktory'
    const failure = lossFailure(this.storeNowMs())
    const late = { errtype: 'ReservationExpired', message: 'reservation expired' }
    if (isLost) settle({ lane, id, token, kind: 'release', lost: true, maxLosses, failure }, door)
    else settle(outcomeOf(job, late), door)
  }

  async #promote(): Promise<void> {
    for (const { lane, jobs } of await this.#parts.store.promote()) this.#parts.wake(lane, jobs)
  }

  #watchWaiters(): Promise<void> {
    const { waiters, watch, clock } = this.#parts
    const beforeMs = clock.nowMs() - watchWaitersAfterMs
    for (const lane of waiters.lanes()) {
      if (!watch.covers(lane) && waiters.olderThan(lane, beforeMs, 1).length > 0) watch.touch()
    }
    return Promise.resolve()
  }

  /** Runs a task again and again, never twice at once; errors are reported and do not end it. */
  #every(task: string, everyMs: number, run: () => Promise<void>): void {
    const again = (): void => {
      if (this.#stopped) return
      const cancel = this.#parts.clock.after(everyMs, () => {
        run()
          .catch((error: unknown) => this.#parts.observer.error(task, error))
          .finally(again)
      })
      this.#cancels.set(task, cancel)
    }
    again()
  }
}

/** One after the other, none kept from its turn by errors of another, which is thrown in the end. */
async function inTurn(tasks: readonly (() => Promise<void>)[]): Promise<void> {
  const errors: unknown[] = []
  for (const task of tasks) await task().catch((error: unknown) => errors.push(error))
  if (errors.length > 0) throw errors[0]
}
