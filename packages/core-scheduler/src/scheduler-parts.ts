import { Administration } from './admin/administration.ts'
import { Bridging } from './dispatch/bridging.ts'
import { Claims } from './dispatch/claims.ts'
import { Forgotten } from './maintenance/forgotten.ts'
import { InHand } from './dispatch/in-hand.ts'
import type { Interest } from './model/interest.ts'
import type { JobEvent, JobRef, JobState } from './model/job.ts'
import { JobLookup } from './admin/job-lookup.ts'
import { JobSets } from './admin/job-sets.ts'
import { LaneRegistry } from './model/lane-registry.ts'
import { LaneNames } from './model/lanes.ts'
import { defaultDeadWorkerMs, LeaseHolders } from './maintenance/lease-holders.ts'
import { NativeCare } from './maintenance/native-care.ts'
import { Outcomes } from './results/outcomes.ts'
import type { Clock, Observer, Store } from './store/ports.ts'
import { QueueControl } from './admin/queue-control.ts'
import type { SchedulerOptions } from './scheduler-options.ts'
import { Steps } from './dispatch/steps.ts'
import { Submissions } from './intake/submissions.ts'
import { Upkeep } from './maintenance/upkeep.ts'
import { Verdicts } from './model/verdicts.ts'
import { TaskTimes } from './maintenance/task-times.ts'
import { Waiters } from './results/waiters.ts'
import { Wakeups } from './dispatch/wakeups.ts'
import { WatchList } from './notify/watch-list.ts'
import { WorkerCounts } from './maintenance/worker-counts.ts'
import { WorkerLimits } from './dispatch/worker-limits.ts'

/** Whether all that comes for a worker is heard is not found out for one that named more functions. */
const mostHeardFunctions = 8

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
  const inHand = new InHand()
  const workerLimits = new WorkerLimits(registry, options.throttles)
  const wakeups = new Wakeups(registry, clock, options.wakeups ?? 1, workerLimits)
  const maxLosses = options.maxLosses ?? 0
  const common = { store, clock, observer, registry }
  const bridging = new Bridging(common)
  const closings = new Set<(lane: string) => void>()
  const tell = (ref: JobRef, event: JobEvent): void => waiters.tell(ref, event)
  const wake = (lane: string, jobs: number): void => wakeups.wake(lane, jobs)
  const tasks = new TaskTimes(clock)
  const storeNowMs = (): number => upkeep.storeNowMs()

  const steps = new Steps({
    store,
    clock,
    flush: () => {
      outcomes.flush()
      submissions.flush()
      claims.flush()
    },
  })

  const verdicts = new Verdicts({
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
      if (!worker || !claims.anticipate(worker.interest, jobs)) return { byName: 0, consumers }
      wakeups.wakeOne(worker)
      return { byName: 1, consumers }
    },
  })
  const outcomes = new Outcomes({
    ...{ ...common, inHand, wake, tell, waiters, steps },
    added: steps.added,
  })
  const settleNative = (job: JobState): void =>
    outcomes.add(undefined, verdicts.ofNative(job), undefined, job.door)
  const queues = new QueueControl({
    store,
    tell,
    registry,
    trouble: (task, error) => observer.trouble(task, error),
  })

  const isHeard = (interest: Interest): boolean => {
    if (!upkeep.isUp || interest.idleKeys.length > mostHeardFunctions) return false
    const isCovered = (lane: string): boolean => watch.covers(lane)
    return interest.groups(registry).every(({ lanes }) => lanes.every(isCovered))
  }
  const claims = new Claims({
    ...common,
    steps,
    added: steps.added,
    inHand,
    isHeard,
    handedOut: (job) => bridging.handedOut(job),
    stirs: wakeups.stirs,
    mayClaimAhead: maxLosses === 0,
    putBack: ({ job: { lane, id, token } }) =>
      outcomes.add(undefined, { lane, id, token, kind: 'release', lost: false, maxLosses }),
    giveBack: ({ lane, id, token }) => outcomes.add(undefined, { lane, id, token, kind: 'return' }),
    unpaused: (groups) => queues.unpaused(groups),
    workerLimits,
    roomAgain: (queue) => upkeep.wakeQueue(queue),
  })
  const watch: WatchList = new WatchList(
    clock,
    () => upkeep.wantedLanes(),
    (lanes) => store.watch(lanes),
    (fresh) => upkeep.catchUp(fresh),
    (error) => observer.trouble('watch', error),
  )
  const counts: WorkerCounts = new WorkerCounts(store, registry, (task, error) =>
    observer.trouble(task, error),
  )
  const care = new NativeCare({
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
    trouble: (error) => observer.trouble('holders', error),
  })
  const upkeep: Upkeep = new Upkeep({
    ...common,
    care,
    bridging,
    maxLosses,
    wake,
    tell,
    waiters,
    watch,
    counts,
    submissions,
    settleNative,
    idle: wakeups.idle,
    stir: (lane) => void wakeups.stir(lane),
    laneClosed: (lane) => {
      for (const hear of closings) hear(lane)
    },
    loadPauses: () => queues.load(),
    consumerNews: (wid, news) => queues.hear(wid, news),
    tasks,
    settle: (outcome, door) => outcomes.add(undefined, outcome, tasks, door),
    isSettling: (ref) => outcomes.isSettling(ref),
    outcomeOf: (job, report) => verdicts.ofFailure(job, report),
    giveBackForgotten: async () => {
      for (const { lane, id, token } of await forgotten.look([...registry.all()])) {
        outcomes.add(undefined, { lane, id, token, kind: 'return' })
      }
    },
    lookForDeadWorkers: () => holders.look(),
    recount: () => inHand.prune(store, clock.nowMs()),
    retryReleases: () => outcomes.retryReleases(),
  })
  const forgotten = new Forgotten(store, (token) => inHand.has(token))
  const admin = new Administration({
    store,
    tell,
    registry,
    observer,
    register: (lane) => submissions.laneNumber(lane),
    settled: async () => {
      await Promise.all([submissions.registered(), counts.told()])
      steps.flush()
    },
  })
  const jobs = new JobLookup(store, registry)
  const sets = new JobSets({ store, tell, registry })
  return {
    ...{ registry, waiters, inHand, wakeups, verdicts, submissions, outcomes, claims, watch },
    ...{ counts, upkeep, admin, queues, jobs, sets, tasks, closings, holders },
  }
}
