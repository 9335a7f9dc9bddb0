import { Administration } from './admin/administration.ts'
import { JobLookup } from './admin/job-lookup.ts'
import { JobSets } from './admin/job-sets.ts'
import { Pauses } from './admin/pauses.ts'
import { QueueControl } from './admin/queue-control.ts'
import { ActiveLeases } from './dispatch/active-leases.ts'
import { Bridging } from './dispatch/bridging.ts'
import { Claims } from './dispatch/claims.ts'
import { EarlyWake } from './dispatch/early-wake.ts'
import { LeaseStarts } from './dispatch/lease-starts.ts'
import { Steps } from './dispatch/steps.ts'
import { Wakeups } from './dispatch/wakeups.ts'
import { WorkerLimits } from './dispatch/worker-limits.ts'
import { LaneRegistrar } from './intake/lane-registrar.ts'
import { Submissions } from './intake/submissions.ts'
import { Heartbeat } from './maintenance/nodes/heartbeat.ts'
import { defaultDeadWorkerMs, LeaseHolders } from './maintenance/lease-holders.ts'
import { Maintenance } from './maintenance/maintenance.ts'
import { NativeRecovery } from './maintenance/native-recovery.ts'
import { RouteChanges } from './maintenance/route-changes.ts'
import { TaskTimes } from './maintenance/task-times.ts'
import { WorkerCounts } from './maintenance/nodes/worker-counts.ts'
import { LaneRegistry } from './model/lane-registry.ts'
import { LaneNames } from './model/lanes.ts'
import { RetryPolicy } from './model/retry-policy.ts'
import { noRetries } from './model/retry-rules.ts'
import { ChannelSubscriptions } from './notify/channel-subscriptions.ts'
import { NodeQuestions } from './notify/node-questions.ts'
import { NotificationHandler } from './notify/notification-handler.ts'
import { WantedLanes } from './notify/wanted-lanes.ts'
import { NativeOutcomes } from './results/native-outcomes.ts'
import { Outcomes } from './results/outcomes.ts'
import { Waiters } from './results/waiters.ts'
import { SchedulerEmitter } from './scheduler-events.ts'
import type { SchedulerOptions } from './scheduler-options.ts'
import type { Clock } from './clock.ts'
import type { Observer } from './observer.ts'
import type { Store } from './store/store.ts'

export type SchedulerParts = ReturnType<typeof schedulerParts>

/** Builds the parts of a scheduler, each from those before it; the emitter connects the rest. */
export function schedulerParts(
  store: Store,
  clock: Clock,
  observer: Observer,
  options: SchedulerOptions,
) {
  const { maxLosses = 0, retries } = options
  const events = new SchedulerEmitter()
  const registry = new LaneRegistry(new LaneNames(options.homes), (lane) => {
    events.emit('laneDropped', lane)
  })
  const common = { store, clock, observer, registry, events }
  const heartbeat = new Heartbeat(common)
  const retryPolicy = new RetryPolicy({
    names: registry.names,
    retries,
    rules: options.retryRules ?? noRetries,
    storeClock: heartbeat,
    maxLosses,
  })
  const waiters = new Waiters()
  const activeLeases = new ActiveLeases()
  const workerLimits = new WorkerLimits(registry, options.throttles)
  const pauses = new Pauses(registry)
  const wakeups = new Wakeups({
    ...{ registry, clock, pauses },
    ...{ perJob: options.wakeups ?? 1, limits: workerLimits },
  })
  const bridging = new Bridging(common)
  const workerCounts = new WorkerCounts(common)
  const registrar = new LaneRegistrar({ ...common, counts: workerCounts })
  const steps = new Steps(common)
  const leaseStarts = new LeaseStarts({ clock, steps, activeLeases })
  const base = {
    ...{ ...common, pauses, steps, registrar, waiters, wakeups, activeLeases, bridging },
    leaseStarts,
  }

  const outcomes = new Outcomes(base)
  const nativeOutcomes = new NativeOutcomes({ store, outcomes, retryPolicy })
  const recovery = new NativeRecovery({
    ...base,
    nativeOutcomes,
    retryPolicy,
    repair: options.repair,
  })
  const wanted = new WantedLanes({ ...base, recovery })
  const subscriptions = new ChannelSubscriptions({ ...base, wanted })
  const queues = new QueueControl(base)
  const claims = new Claims({
    ...base,
    heartbeat,
    outcomes,
    subscriptions,
    maxLosses,
    workerLimits,
    arrivals: wakeups.arrivals,
  })
  const submissions = new Submissions({
    ...base,
    subscriptions,
    earlyWake: new EarlyWake({ wakeups, claims }),
    storeClock: heartbeat,
  })
  steps.takeFrom(outcomes, submissions, claims)

  const nodeQuestions = new NodeQuestions(common)
  const notifications = new NotificationHandler({
    ...base,
    nodeQuestions,
    outcomes,
    nativeOutcomes,
    queues,
    submissions,
    recovery,
    subscriptions,
    counts: workerCounts,
  })
  const holders = new LeaseHolders({
    ...base,
    outcomes,
    retryPolicy,
    requeue: options.deadWorkerRequeue ?? 'others',
    deadMs: options.deadWorkerMs ?? defaultDeadWorkerMs,
  })
  const routeChanges = new RouteChanges({ ...common, registrar, counts: workerCounts })
  const tasks = new TaskTimes(clock)
  const maintenance = new Maintenance({
    ...base,
    heartbeat,
    notifications,
    outcomes,
    retryPolicy,
    holders,
    recovery,
    routeChanges,
    tasks,
    subscriptions,
  })
  return {
    registry,
    events,
    waiters,
    activeLeases,
    leaseStarts,
    wakeups,
    steps,
    retryPolicy,
    workerLimits,
    routeChanges,
    registrar,
    submissions,
    outcomes,
    claims,
    subscriptions,
    counts: workerCounts,
    heartbeat,
    notifications,
    nodeQuestions,
    maintenance,
    queues,
    tasks,
    holders,
    admin: new Administration({ ...base, workerCounts }),
    jobs: new JobLookup(base),
    sets: new JobSets(base),
  }
}
