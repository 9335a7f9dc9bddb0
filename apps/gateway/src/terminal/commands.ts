import type { CommandRow } from './command-row.ts'
import { batchCommands } from './fleet/batches.ts'
import { cronCommands } from './fleet/cron.ts'
import { fleetCommands } from './fleet/fleet.ts'
import { workerCommands } from './fleet/workers.ts'
import { health } from './fleet/health.ts'
import { reload } from './fleet/reload.ts'
import { jobActs } from './jobs/acts.ts'
import { listJobs } from './jobs/list.ts'
import { listFailures } from './jobs/failures.ts'
import { showJob } from './jobs/show.ts'
import { traceJob } from './jobs/trace.ts'
import { submissions } from './jobs/submit.ts'
import { functionCommands } from './lanes/functions.ts'
import { onePlaceCommands } from './lanes/one-place.ts'
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
  ...onePlaceCommands,
  ...workerCommands,
  ...fleetCommands,
  ...cronCommands,
  ...batchCommands,
  reload,
  health,
]
