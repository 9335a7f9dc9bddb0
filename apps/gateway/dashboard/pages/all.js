import { AuditPage } from './audit.js'
import { BatchesPage } from './batches.js'
import { CronPage } from './cron.js'
import { ErrorsPage } from './errors.js'
import { FunctionsPage } from './functions.js'
import { JobPage } from './job.js'
import { JobsPage } from './jobs.js'
import { MigrationsPage } from './migrations.js'
import { NodesPage } from './nodes.js'
import { FunctionPage, QueuePage } from './one-place.js'
import { OverviewPage } from './overview.js'
import { QueuesPage } from './queues.js'
import { SearchPage } from './search.js'
import { WorkerPage } from './worker.js'
import { WorkersPage } from './workers.js'

/** @typedef {{ route: import('../router.js').Route }} PageProps */

/** Pages by the first word of their address. */
export const pages = new Map([
  ['overview', OverviewPage],
  ['jobs', JobsPage],
  ['scheduled', JobsPage],
  ['retries', JobsPage],
  ['dead', JobsPage],
  ['errors', ErrorsPage],
  ['job', JobPage],
  ['search', SearchPage],
  ['functions', FunctionsPage],
  ['function', FunctionPage],
  ['queues', QueuesPage],
  ['queue', QueuePage],
  ['workers', WorkersPage],
  ['worker', WorkerPage],
  ['nodes', NodesPage],
  ['cron', CronPage],
  ['batches', BatchesPage],
  ['migrations', MigrationsPage],
  ['audit', AuditPage],
])
