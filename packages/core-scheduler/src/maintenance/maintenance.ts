import type { ActiveLeases } from '../dispatch/active-leases.ts'
import type { LaneRegistrar } from '../intake/lane-registrar.ts'
import type { NotificationHandler } from '../notify/notification-handler.ts'
import { watchWaitersAfterMs } from '../notify/wanted-lanes.ts'
import type { ChannelSubscriptions } from '../notify/channel-subscriptions.ts'
import type { Outcomes } from '../results/outcomes.ts'
import type { RetryPolicy } from '../model/retry-policy.ts'
import type { Bridging } from '../dispatch/bridging.ts'
import type { Wakeups } from '../dispatch/wakeups.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Waiters } from '../results/waiters.ts'
import type { SchedulerEmitter } from '../scheduler-events.ts'
import type { Clock } from '../clock.ts'
import type { Observer } from '../observer.ts'
import type { Store } from '../store/store.ts'
import { BackgroundLoop, inTurn } from './background-loop.ts'
import { DeadNodeReclaimer } from './nodes/dead-node-reclaimer.ts'
import { Healer } from './healer.ts'
import { IdleLanes } from './idle-lanes.ts'
import { LaneLooks } from './lane-looks.ts'
import { beatEveryMs, type Heartbeat } from './nodes/heartbeat.ts'
import type { LeaseHolders } from './lease-holders.ts'
import type { NativeRecovery } from './native-recovery.ts'
import { OrphanLeases } from './orphan-leases.ts'
import { Promoter } from './promoter.ts'
import { Reaper } from './reaper.ts'
import { StoreReset } from './nodes/store-reset.ts'
import { UnknownNodes } from './nodes/unknown-nodes.ts'
import type { RouteChanges } from './route-changes.ts'
import type { TaskTimes } from './task-times.ts'

/** Interval of polls for the progress of jobs with native workers, milliseconds. */
const progressEveryMs = 250

export interface MaintenanceParts {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Observer
  readonly registry: LaneRegistry
  readonly registrar: LaneRegistrar
  readonly events: SchedulerEmitter
  readonly heartbeat: Heartbeat
  readonly notifications: NotificationHandler
  readonly subscriptions: ChannelSubscriptions
  readonly activeLeases: ActiveLeases
  readonly outcomes: Outcomes
  readonly retryPolicy: RetryPolicy
  readonly waiters: Waiters
  readonly wakeups: Wakeups
  readonly bridging: Bridging
  readonly holders: LeaseHolders
  readonly recovery: NativeRecovery
  readonly routeChanges: RouteChanges
  readonly tasks: TaskTimes
}

/** The background loops of a node, in the order in which they start. */
export class Maintenance {
  readonly #parts: MaintenanceParts
  readonly #reclaimer: DeadNodeReclaimer
  /** Loops that run once before the node serves. */
  readonly #everyBeat: readonly BackgroundLoop[]
  readonly #others: readonly BackgroundLoop[]

  constructor(parts: MaintenanceParts) {
    this.#parts = parts
    const { store, clock, activeLeases, holders, notifications, recovery } = parts
    const loop = (name: string, everyMs: number, run: () => Promise<void>): BackgroundLoop =>
      new BackgroundLoop(parts, { name, everyMs, run })
    this.#reclaimer = new DeadNodeReclaimer(parts)
    this.#everyBeat = [
      new StoreReset(parts),
      loop('native recovery', beatEveryMs, () => recovery.beat()),
      new Reaper(parts),
      loop('dead workers', beatEveryMs, () => holders.look()),
      loop('active leases', beatEveryMs, () => activeLeases.prune(store, clock.nowMs())),
      new LaneLooks({
        ...parts,
        checks: [new Healer(parts), recovery, new IdleLanes(parts), new UnknownNodes(parts)],
        onFollowing: () => parts.bridging.forget(),
      }),
      loop('sweep', beatEveryMs, async () => {
        await notifications.recover()
        await notifications.sweep()
      }),
    ]
    this.#others = [
      new Promoter(parts),
      loop('waiters', watchWaitersAfterMs, () => this.#watchWaiters()),
      new OrphanLeases(parts),
      parts.routeChanges,
      loop('progress', progressEveryMs, () => notifications.pollProgress()),
    ]
  }

  /** Joins the nodes. Throws if the store cannot be reached. */
  async start(): Promise<void> {
    const { heartbeat } = this.#parts
    this.#reclaimer.start()
    await heartbeat.run()
    await this.#reclaimer.idle()
    await inTurn(this.#everyBeat.map((loop) => () => loop.run()))
    for (const loop of [heartbeat, ...this.#everyBeat, ...this.#others]) loop.start()
  }

  stop(): void {
    this.#reclaimer.stop()
    for (const loop of [this.#parts.heartbeat, ...this.#everyBeat, ...this.#others]) loop.stop()
  }

  #watchWaiters(): Promise<void> {
    const { waiters, subscriptions, clock } = this.#parts
    const beforeMs = clock.nowMs() - watchWaitersAfterMs
    for (const lane of waiters.lanes()) {
      const isOld = waiters.olderThan(lane, beforeMs, 1).length > 0
      if (isOld && !subscriptions.covers(lane)) subscriptions.touch()
    }
    return Promise.resolve()
  }
}
