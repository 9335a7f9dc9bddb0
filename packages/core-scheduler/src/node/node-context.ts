import type { Clock } from '../clock.ts'
import { LaneRegistry } from '../model/lane-registry.ts'
import { LaneNames } from '../model/lanes.ts'
import { RetryPolicy } from '../model/retry-policy.ts'
import { noRetries, type RetryRules } from '../model/retry-rules.ts'
import type { RouteTerms } from '../model/route-terms.ts'
import type { Observer } from '../observer.ts'
import type { Throttle } from '../store/claim-ports.ts'
import type { Store } from '../store/store.ts'
import { ActiveLeases } from './active-leases.ts'
import { BackgroundTasks } from './background-tasks.ts'
import { ChannelSubscriptions } from './channel-subscriptions.ts'
import { Heartbeat } from './heartbeat.ts'
import { LaneRegistrar } from './lane-registrar.ts'
import { OwnSubmissions } from './own-submissions.ts'
import { Pauses } from './pauses.ts'
import { SchedulerEmitter } from './scheduler-events.ts'
import { Steps } from './steps.ts'
import { Waiters } from './waiters.ts'
import { Wakeups } from './wakeups.ts'
import { WorkerCounts } from './worker-counts.ts'
import { WorkerLimits } from './worker-limits.ts'

export interface NodeOptions {
  readonly homes?: ReadonlyMap<string, string>
  readonly routes?: ReadonlyMap<string, RouteTerms>
  readonly retryRules?: RetryRules
  readonly maxLosses?: number
  readonly throttles?: ReadonlyMap<string, Throttle>
  readonly wakeups?: number
}

/** The store and what this node knows: the parts of all rooms above share them. */
export type NodeContext = ReturnType<typeof nodeContext>

export function nodeContext(store: Store, clock: Clock, observer: Observer, options: NodeOptions) {
  const { homes, routes, retryRules = noRetries, maxLosses = 0, throttles, wakeups = 1 } = options
  const events = new SchedulerEmitter(observer)
  const tasks = new BackgroundTasks({ clock, observer })
  const registry = new LaneRegistry(new LaneNames(homes), (lane) => {
    events.emit('laneRemoved', lane)
  })
  const parts = { store, clock, observer, registry, events, tasks }
  const heartbeat = new Heartbeat(parts)
  const counts = new WorkerCounts(parts)
  const steps = new Steps(parts)
  const pauses = new Pauses(registry)
  const limits = new WorkerLimits(registry, throttles)
  const subscriptions = new ChannelSubscriptions(parts)
  const waking = { ...parts, perJob: wakeups, limits, pauses, subscriptions }
  const retrying = { names: registry.names, routes, rules: retryRules, maxLosses }
  return {
    ...parts,
    heartbeat,
    counts,
    steps,
    pauses,
    limits,
    subscriptions,
    retryPolicy: new RetryPolicy({ ...retrying, storeClock: heartbeat }),
    registrar: new LaneRegistrar({ ...parts, counts, steps }),
    waiters: new Waiters(),
    activeLeases: new ActiveLeases(),
    ownSubmissions: new OwnSubmissions(parts),
    wakeups: new Wakeups(waking),
  }
}
