import type { Scheduler } from '@crossgear/core-scheduler'
import type { RedisStore } from '@crossgear/redis-store'
import type { Config } from '../../config/load-config.ts'
import type { Door } from '../../doors/net/door.ts'
import type { Fleet } from '../../operations/fleet/fleet.ts'
import type { Cron } from '../../operations/cron/cron.ts'
import type { Logger } from '../../config/log/logger.ts'
import type { StoreSnapshots } from '../../operations/metrics/store-snapshot.ts'
import type { Imports } from './acts/deleted-jobs.ts'
import type { JobNames } from './reads/job-names.ts'
import type { JobScan } from './reads/job-scan.ts'
import type { LatestView } from './reads/snapshot-view.ts'
import type { WaitReasons } from './reads/waits/wait-reasons.ts'
import type { StoreRejected } from '../../doors/net/store-refusal.ts'

export interface ApiParts {
  /** The settings in force at the time of the call. */
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
  /** Counts what the store refused. Nobody does. */
  readonly rejected?: StoreRejected
}

/** All that handlers of operations are made of. */
export interface HandlerParts extends ApiParts {
  readonly names: JobNames
  readonly scan: JobScan
  readonly waits: WaitReasons
  /** Figures of all lanes, a second old at most. */
  readonly view: LatestView
}
