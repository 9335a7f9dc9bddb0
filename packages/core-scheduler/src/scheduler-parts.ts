import { Administration } from './admin/administration.ts'
import { JobLookup } from './admin/job-lookup.ts'
import { JobSets } from './admin/job-sets.ts'
import { QueueControl } from './admin/queue-control.ts'
import { Bridging } from './dispatch/bridging.ts'
import { Claims } from './dispatch/claims.ts'
import { IdleSearch } from './dispatch/idle-search.ts'
import { Submissions } from './intake/submissions.ts'
import { AgedJobs } from './maintenance/aged-jobs.ts'
import { DeadNodeReclaimer } from './maintenance/dead-node-reclaimer.ts'
import { healing } from './maintenance/healing.ts'
import { IdleLanes } from './maintenance/idle-lanes.ts'
import { LaneSearches } from './dispatch/lane-searches.ts'
import { LaneLooks } from './maintenance/lane-looks.ts'
import { EndedHolds } from './maintenance/ended-holds.ts'
import { defaultDeadWorkerMs, LeaseHolders } from './maintenance/lease-holders.ts'
import { NativeRecovery } from './maintenance/native-recovery.ts'
import { OrphanLeases } from './maintenance/orphan-leases.ts'
import { Reaper } from './maintenance/reaper.ts'
import { RouteChanges } from './maintenance/route-changes.ts'
import { StoreReset } from './maintenance/store-reset.ts'
import { TaskTimes } from './maintenance/task-times.ts'
import { UnknownNodes } from './maintenance/unknown-nodes.ts'
import { nodeContext } from './node/node-context.ts'
import { AnnouncedJobs } from './notify/announced-jobs.ts'
import { NodeQuestions } from './notify/node-questions.ts'
import { Outages } from './notify/outages.ts'
import { AwaitedJobs } from './results/awaited-jobs.ts'
import { KeptOutcomes } from './results/kept-outcomes.ts'
import { LeaseStarts } from './results/lease-starts.ts'
import { NativeOutcomes } from './results/native-outcomes.ts'
import { Outcomes } from './results/outcomes.ts'
import type { SchedulerOptions } from './scheduler-options.ts'
import type { Clock } from './clock.ts'
import type { Observer } from './observer.ts'
import type { Store } from './store/store.ts'

export type SchedulerParts = ReturnType<typeof schedulerParts>

/** Builds the parts of a scheduler, each from those before it. Periodic tasks of one interval run in the order in which they are added. */
export function schedulerParts(
  store: Store,
  clock: Clock,
  observer: Observer,
  options: SchedulerOptions,
) {
  const { maxLosses = 0, repair } = options
  const node = nodeContext(store, clock, observer, options)

  const leaseStarts = new LeaseStarts(node)
  const keptOutcomes = new KeptOutcomes(node)
  const outcomes = new Outcomes({ ...node, leaseStarts, keptOutcomes })
  const nativeOutcomes = new NativeOutcomes({ ...node, outcomes })

  const bridging = new Bridging(node)
  const searches = new LaneSearches(node)
  const claims = new Claims({ ...node, outcomes, leaseStarts, bridging, searches, maxLosses })
  const submissions = new Submissions({ ...node, claims })
  node.steps.takeFrom(outcomes, submissions, claims)

  new StoreReset(node)
  const recovery = new NativeRecovery({ ...node, repair, nativeOutcomes })
  const times = new TaskTimes(clock)
  new Reaper({ ...node, outcomes, times, recovery })
  const agedJobs = new AgedJobs({ ...node, recovery }, options.routes)
  const holders = new LeaseHolders({
    ...node,
    outcomes,
    requeue: options.deadWorkerRequeue ?? 'others',
    deadMs: options.deadWorkerMs ?? defaultDeadWorkerMs,
  })
  const reclaimer = new DeadNodeReclaimer({ ...node, holders })
  new OrphanLeases({ ...node, outcomes })
  new EndedHolds({ ...node, recovery })
  new LaneLooks({
    ...node,
    recovery,
    checks: [healing(node, bridging, times), recovery, new IdleLanes(node), new UnknownNodes(node)],
    onFollowing: () => bridging.forget(),
  })
  const routeChanges = new RouteChanges(node)

  const outages = new Outages(node)
  const idleSearch = new IdleSearch({ ...node, searches })
  new AwaitedJobs({ ...node, outcomes, nativeOutcomes })
  new AnnouncedJobs({ ...node, idleSearch })
  const nodeQuestions = new NodeQuestions(node)

  const queues = new QueueControl({ ...node, idleSearch })
  return {
    ...node,
    keptOutcomes,
    leaseStarts,
    outcomes,
    claims,
    submissions,
    idleSearch,
    searches,
    agedJobs,
    times,
    holders,
    reclaimer,
    routeChanges,
    outages,
    nodeQuestions,
    queues,
    admin: new Administration(node),
    jobs: new JobLookup(node),
    sets: new JobSets(node),
  }
}
