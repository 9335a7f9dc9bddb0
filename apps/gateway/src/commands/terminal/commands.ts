import { auditCommands } from './audit.ts'
import type { CommandRow } from './command-row.ts'
import { batchCommands, cronCommands } from './fleet/cron-and-batches.ts'
import { fleetCommands, gatewayCommands } from './fleet/fleet.ts'
import { workerCommands } from './fleet/workers.ts'
import { jobActs } from './jobs/acts.ts'
import { listFailures, listJobs } from './jobs/list.ts'
import { showJob } from './jobs/show.ts'
import { traceJob } from './jobs/trace.ts'
import { submissions } from './jobs/submit.ts'
import { functionCommands } from './lanes/functions.ts'
import { queueCommands } from './lanes/queues.ts'
import { top } from './top/top.ts'

/** Every command that asks a running gateway. */
export const commands: readonly CommandRow[] = [
  top,
  listJobs,
  showJob,
  traceJob,
  listFailures,
  ...jobActs,
  ...submissions,
  ...queueCommands,
  ...functionCommands,
  ...workerCommands,
  ...fleetCommands,
  ...cronCommands,
  ...batchCommands,
  ...auditCommands,
  ...gatewayCommands,
]
