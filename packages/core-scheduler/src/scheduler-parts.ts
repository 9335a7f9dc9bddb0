import { Administration } from './admin/administration.ts'
import { Bridging } from './dispatch/bridging.ts'
import { Claims } from './dispatch/claims.ts'
import { Heartbeat } from './maintenance/heartbeat.ts'
import { NotificationHandler } from './notify/notification-handler.ts'
import { SchedulerEmitter } from './scheduler-events.ts'
import { ActiveLeases } from './dispatch/active-leases.ts'
import type { Subscription } from './model/subscription.ts'
import type { JobState } from './model/job.ts'
import { JobLookup } from './admin/job-lookup.ts'
import { JobSets } from './admin/job-sets.ts'
import { LaneRegistry } from './model/lane-registry.ts'
import { LaneNames } from './model/lanes.ts'
import { defaultDeadWorkerMs, LeaseHolders } from './maintenance/lease-holders.ts'
import { NativeRecovery } from './maintenance/native-recovery.ts'
import { Outcomes } from './results/outcomes.ts'
import type { Clock, Observer, Store } from './store/ports.ts'
import { QueueControl } from './admin/queue-control.ts'
import type { SchedulerOptions } from './scheduler-options.ts'
import { Steps } from './dispatch/steps.ts'
import { Submissions } from './intake/submissions.ts'
import { Maintenance } from './maintenance/maintenance.ts'
import { RetryPolicy } from './model/retry-policy.ts'
import { TaskTimes } from './maintenance/task-times.ts'
import { Waiters } from './results/waiters.ts'
import { Wakeups } from './dispatch/wakeups.ts'
import { ChannelSubscriptions } from './notify/channel-subscriptions.ts'
import { WorkerCounts } from './maintenance/worker-counts.ts'
import { WorkerLimits } from './dispatch/worker-limits.ts'

/** Whether all that comes for a worker is heard is not found out for one that named more functions. */
const mostSubscribedFunctions = 8

export type SchedulerParts = ReturnType<typeof schedulerParts>

/** Builds what a scheduler is made of, and ties it together. */
export function schedulerParts(
  store: Store,
  clock: Clock,
  observer: Observer,
  options: SchedulerOptions,
) {
  const registry = new LaneRegistry(new LaneNames(options.homes))
  const waiters = new Waiters()
  const activeLeases = new ActiveLeases()
  const workerLimits = new WorkerLimits(registry, options.throttles)
  const wakeups = new Wakeups(registry, clock, options.wakeups ?? 1, workerLimits)
  const maxLosses = options.maxLosses ?? 0
  const common = { store, clock, observer, registry }
  const bridging = new Bridging(common)
  const events = new SchedulerEmitter()
  const tasks = new TaskTimes(clock)
  const heartbeat = new Heartbeat({ ...common, events })
  const storeNowMs = (): number => heartbeat.storeNowMs()

  const steps = new Steps({
    store,
    clock,
    flush: () => {
      outcomes.flush()
      submissions.flush()
      claims.flush()
    },
  })

  const retryPolicy = new RetryPolicy({
    names: registry.names,
    retries: options.retries,
    random: options.random ?? Math.random,
    storeNowMs,
  })
  const submissions: Submissions = new Submissions({
    ...common,
    steps,
    added: steps.added,
    laneAdded: (lane) => counts.laneAdded(lane),
    waiters,
    storeNowMs,
    wake: (lane, jobs, own) => wakeups.wake(lane, jobs, own),
    isWatched: (lane) => watch.covers(lane),
    sending: (lane, jobs, isOpen) => {
      const consumers = isOpen && jobs > 0 ? wakeups.wakeConsumers(lane, jobs) : 0
      // While the store takes them a worker by name can wake up and ask.
      const worker = jobs > 0 ? wakeups.nextByName(lane) : undefined
      if (!worker || !claims.anticipate(worker.subscription, jobs)) return { byName: 0, consumers }
      wakeups.wakeOne(worker)
      return { byName: 1, consumers }
    },
  })
  const outcomes = new Outcomes({
    ...{ ...common, activeLeases, waiters, steps },
    wake: (lane, jobs) => wakeups.wake(lane, jobs),
    notify: (ref, event) => waiters.notify(ref, event),
    added: steps.added,
  })
  const settleNative = (job: JobState): void =>
    outcomes.add(undefined, retryPolicy.ofNative(job), undefined, job.door)
  const queues = new QueueControl({ ...common, waiters })
  events.on('consumerNews', (wid, news) => queues.onNews(wid, news))
  events.on('storeReset', () => queues.load())

  const isSubscribed = (subscription: Subscription): boolean => {
    if (!notifications.isUp || subscription.idleKeys.length > mostSubscribedFunctions) return false
    const isCovered = (lane: string): boolean => watch.covers(lane)
    return subscription.groups(registry).every(({ lanes }) => lanes.every(isCovered))
  }
  const claims = new Claims({
    ...common,
    steps,
    added: steps.added,
    activeLeases,
    isSubscribed,
    handedOut: (job) => bridging.handedOut(job),
    arrivals: wakeups.arrivals,
    mayClaimAhead: maxLosses === 0,
    putBack: ({ job: { lane, id, token } }) =>
      outcomes.add(undefined, { lane, id, token, kind: 'release', lost: false, maxLosses }),
    giveBack: ({ lane, id, token }) => outcomes.add(undefined, { lane, id, token, kind: 'return' }),
    unpaused: (groups) => queues.unpaused(groups),
    workerLimits,
    roomAgain: (queue) => void notifications.wakeQueue(queue),
  })
  const watch: ChannelSubscriptions = new ChannelSubscriptions(
    clock,
    () => notifications.wantedLanes(),
    (lanes) => store.watch(lanes),
    (fresh) => void notifications.catchUp(fresh),
    (error) => observer.error('watch', error),
  )
  const counts: WorkerCounts = new WorkerCounts(store, registry, (task, error) =>
    observer.error(task, error),
  )
  const recovery = new NativeRecovery({
    ...common,
    maxLosses,
    storeNowMs,
    repair: options.repair,
    register: (lane) => submissions.laneNumber(lane),
    settleNative: async (lane, ids) => {
      for (const job of await store.look(lane, ids, ['output'])) if (job) settleNative(job)
    },
  })
  const holders = new LeaseHolders({
    store,
    clock,
    maxLosses,
    requeue: options.deadWorkerRequeue ?? 'others',
    deadMs: options.deadWorkerMs ?? defaultDeadWorkerMs,
    settle: (outcome, settlement) => outcomes.add(undefined, outcome, settlement),
    onError: (error) => observer.error('holders', error),
  })
  const notifications: NotificationHandler = new NotificationHandler({
    ...{ ...common, events, waiters, wakeups, queues, counts, submissions, recovery, bridging },
    settleNative,
    isSettling: (ref) => outcomes.isSettling(ref),
  })
  events.on('beat', (wasReset) => {
    if (wasReset) counts.retell()
    else counts.retry()
    outcomes.retryReleases()
    watch.touch()
  })
  const maintenance = new Maintenance({
    ...{
      ...common,
      events,
      heartbeat,
      notifications,
      activeLeases,
      outcomes,
      retryPolicy,
      waiters,
    },
    ...{ wakeups, bridging, holders, recovery, tasks, maxLosses, subscriptions: watch },
  })
  const admin = new Administration({
    ...{ ...common, waiters },
    register: (lane) => submissions.laneNumber(lane),
    settled: async () => {
      await Promise.all([submissions.registered(), counts.published()])
      steps.flush()
    },
  })
  const jobs = new JobLookup(store, registry, () => steps.flush())
  const sets = new JobSets({ store, waiters, registry })
  return {
    ...{
      registry,
      waiters,
      activeLeases,
      wakeups,
      retryPolicy,
      submissions,
      outcomes,
      claims,
      watch,
    },
    ...{
      counts,
      heartbeat,
      notifications,
      maintenance,
      events,
      admin,
      queues,
      jobs,
      sets,
      tasks,
      holders,
    },
  }
}
