import type { Scheduler } from '@crossgear/core-scheduler'
import type { RedisStore } from '@crossgear/redis-store'
import type { Config } from '../config/load-config.ts'
import { GearmanDoor } from '../gearman/gearman-door.ts'
import { Handles } from '../gearman/handles.ts'
import type { Door } from '../net/door.ts'
import type { Fleet } from '../ops/fleet/fleet.ts'
import type { Cron } from '../ops/cron/cron.ts'
import type { Logger } from '../log/logger.ts'
import type { StoreSnapshots } from '../ops/metrics/store-snapshot.ts'
import { cronActs } from './acts/cron-acts.ts'
import { jobActs } from './acts/job-acts.ts'
import type { Imports } from './acts/deleted-jobs.ts'
import { undoActs } from './acts/undo-act.ts'
import { auditReads } from './reads/audit-reads.ts'
import { JobMove } from './acts/job-move.ts'
import { laneActs } from './acts/lane-acts.ts'
import { newJobs } from './acts/new-jobs.ts'
import { Api } from './api.ts'
import { failureReads } from './reads/failure-reads.ts'
import { fleetReads } from './reads/fleet-reads.ts'
import { historyReads } from './reads/history-reads.ts'
import { JobNames } from './reads/job-names.ts'
import { jobReads } from './reads/job-reads.ts'
import { JobScan } from './reads/job-scan.ts'
import { laneReads } from './reads/lane-reads.ts'
import { LatestView } from './reads/snapshot-view.ts'
import { workerReads } from './reads/worker-reads.ts'

export interface ApiParts {
  /** As it is now. */
  readonly config: () => Config
  readonly scheduler: Scheduler
  readonly snapshots: StoreSnapshots
  readonly doors: readonly Door[]
  readonly cron: Cron
  readonly fleet: Fleet
  readonly node: string
  readonly version: string
  readonly imports: Imports & Pick<RedisStore['imports'], 'migrations'>
  readonly log: Logger
}

/** Builds what answers the API in this process. */
export function composeApi(parts: ApiParts): Api {
  const { scheduler, doors, log, imports } = parts
  const handles = new Handles(parts.config().handlePrefix, scheduler.registry)
  const names = new JobNames(scheduler, handles)
  const scan = new JobScan(scheduler)
  const view = new LatestView(parts.snapshots)
  const gearman = doors.find((door) => door instanceof GearmanDoor)
  return new Api(
    {
      ...jobReads({ scheduler, names, scan, fleet: parts.fleet }),
      ...failureReads({ scheduler, names, scan }),
      ...laneReads({ ...parts, view }),
      ...fleetReads({ ...parts, gearman, migrations: imports.migrations }),
      ...workerReads({ ...parts, names }),
      ...historyReads(scheduler),
      ...jobActs({ scheduler, names, scan, move: new JobMove(scheduler), imports }),
      ...undoActs({ scheduler, imports }),
      ...auditReads({ audit: scheduler.audit, storeNowMs: () => scheduler.storeNowMs() }),
      ...newJobs({ scheduler, names }),
      ...laneActs(scheduler),
      ...cronActs({ ...parts, names }),
    },
    scheduler.registry.names,
    log,
  )
}
