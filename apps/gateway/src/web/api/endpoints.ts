import { act, adminAct, adminRead, type Endpoint, read, strict, text } from './endpoint.ts'
import * as acts from './schemas/acts.ts'
import { auditList, auditQuery, entryId, undone } from './schemas/audit.ts'
import { cursor, functionName, limit, queueName } from './schemas/common.ts'
import { failureQuery, failures } from './schemas/failures.ts'
import * as fleet from './schemas/fleet.ts'
import { history, historyQuery } from './schemas/history.ts'
import * as jobs from './schemas/jobs.ts'
import * as lanes from './schemas/lanes.ts'
import { cronRuns, cronRunsQuery, runs } from './schemas/runs.ts'
import { searchAnswer, searchQuery } from './schemas/search.ts'
import { troubles } from './schemas/troubles.ts'

/** Every operation that a gateway process answers, by name. */
export const endpoints = {
  getOverview: read({
    path: '/overview',
    tag: 'Store',
    answer: lanes.overview,
    summary:
      'Figures of the whole store, or of the functions and queues of a person, at most a second old',
  }),
  getTroubles: read({
    path: '/troubles',
    tag: 'Store',
    answer: troubles,
    summary:
      'What is wrong, the worst first, and what the servers of the store say of themselves; at most a second old',
  }),
  getHistory: read({
    path: '/history',
    tag: 'Store',
    query: historyQuery,
    answer: history,
    summary: 'Counts of jobs in the last hour or day, over all nodes; of one function or queue',
  }),
  listJobs: read({
    path: '/jobs',
    tag: 'Jobs',
    query: jobs.jobQuery,
    answer: jobs.jobPage,
    summary:
      'Jobs that match a filter. One call reads a limited number of jobs, so a page may be short or empty and still have a cursor',
  }),
  getJob: read({
    path: '/jobs/{job}',
    tag: 'Jobs',
    answer: jobs.jobDetail,
    summary: 'One job with its payload',
    params: strict({ job: jobs.jobId }),
    query: jobs.payloadQuery,
  }),
  listFunctions: read({
    path: '/functions',
    tag: 'Functions and queues',
    answer: lanes.functionPage,
    summary: 'Functions, with one entry for each queue in which a function has jobs',
    query: lanes.functionQuery,
  }),
  listQueues: read({
    path: '/queues',
    tag: 'Functions and queues',
    answer: lanes.queuePage,
    summary: 'Faktory queues',
    query: lanes.queueQuery,
  }),
  getFunction: read({
    path: '/functions/{function}',
    tag: 'Functions and queues',
    answer: lanes.oneFunction,
    summary: 'One function over all of its queues, with its last hour',
    params: strict({ function: functionName }),
  }),
  listRuns: read({
    path: '/functions/{function}/runs',
    tag: 'Functions and queues',
    answer: runs,
    summary: 'The last 100 runs of a function at all gateways, the newest first',
    params: strict({ function: functionName }),
  }),
  getQueue: read({
    path: '/queues/{queue}',
    tag: 'Functions and queues',
    answer: lanes.oneQueue,
    summary: 'One Faktory queue over all of its functions, with its last hour',
    params: strict({ queue: queueName }),
  }),
  search: read({
    path: '/search',
    tag: 'Jobs',
    query: searchQuery,
    answer: searchAnswer,
    summary: 'Jobs, batches, functions and queues by their names',
  }),
  listFailures: read({
    path: '/failures',
    tag: 'Jobs',
    query: failureQuery,
    answer: failures,
    summary:
      'Failed jobs, grouped by the kind and the first line of their error. One call reads a limited number of jobs, and the next reads on',
  }),
  getScale: read({
    path: '/scale',
    tag: 'Functions and queues',
    answer: lanes.scale,
    summary: 'The figures of one function that an autoscaler needs',
    query: lanes.scaleQuery,
  }),
  listThrottles: read({
    path: '/throttles',
    tag: 'Functions and queues',
    answer: lanes.throttles,
    summary: 'Limits of queues, as the configuration sets them',
  }),
  listWorkers: read({
    path: '/workers',
    tag: 'Workers and nodes',
    answer: fleet.workers,
    summary:
      'Workers of all gateways: sums by function, queue and door, and one by one with their jobs',
    query: fleet.workerQuery,
  }),
  getWorker: read({
    path: '/workers/{worker}',
    tag: 'Workers and nodes',
    answer: fleet.oneWorker,
    summary: 'One worker with its jobs',
    params: strict({ worker: fleet.workerId }),
    query: strict({ limit, cursor }),
  }),
  listConnections: read({
    path: '/connections',
    tag: 'Workers and nodes',
    answer: fleet.connections,
    summary: 'Gearman connections of this gateway',
    query: strict({ limit, cursor }),
  }),
  listNodes: read({
    path: '/nodes',
    tag: 'Workers and nodes',
    answer: fleet.nodes,
    summary: 'Gateways on the store, each with what it says of itself',
  }),
  listCron: read({
    path: '/cron',
    tag: 'Cron, batches, migrations',
    answer: fleet.cron,
    summary: 'Cron jobs: their schedules, last and next runs',
  }),
  listCronRuns: read({
    path: '/cron/runs',
    tag: 'Cron, batches, migrations',
    query: cronRunsQuery,
    answer: cronRuns,
    summary: 'The last ten jobs that a cron entry has pushed, the newest first, and their outcomes',
  }),
  listBatches: read({
    path: '/batches',
    tag: 'Cron, batches, migrations',
    answer: fleet.batchPage,
    summary: 'Batches, the newest first',
    query: fleet.batchQuery,
  }),
  getBatch: read({
    path: '/batches/{batch}',
    tag: 'Cron, batches, migrations',
    answer: fleet.batch,
    summary: 'Progress of a batch',
    params: strict({ batch: text('The bid that BATCH NEW gave', 255) }),
  }),
  listMigrations: read({
    path: '/migrations',
    tag: 'Cron, batches, migrations',
    answer: fleet.migrations,
    summary: 'Migrations of the last 30 days',
  }),
  getMigration: read({
    path: '/migrations/{migration}',
    tag: 'Cron, batches, migrations',
    summary: 'Progress of a migration',
    params: strict({ migration: text('The name that crossgear migrate was given', 255) }),
    answer: fleet.migration,
  }),
  listAudit: adminRead({
    path: '/audit',
    tag: 'Audit',
    query: auditQuery,
    answer: auditList,
    summary: 'Who did what, the newest first. One call looks at a limited number of entries',
  }),
  undoAct: adminAct({
    path: '/audit/{entry}/undo',
    tag: 'Audit',
    answer: undone,
    summary: 'Puts the jobs that an act deleted within a day back where they were, once',
    params: strict({ entry: entryId }),
  }),
  submitJob: act({
    path: '/jobs',
    tag: 'Jobs',
    body: acts.newJob,
    answer: acts.submittedJob,
    status: 201,
    summary: 'Submits a background job',
  }),
  resubmitJob: act({
    path: '/jobs/{job}/resubmit',
    tag: 'Jobs',
    body: acts.resubmission,
    status: 201,
    summary: 'Submits a job again, unchanged or changed, as a new job that names the old one',
    params: strict({ job: jobs.jobId }),
    answer: acts.submittedJob,
  }),
  replaceJob: act({
    path: '/jobs/{job}/replace',
    tag: 'Jobs',
    body: acts.replacement,
    status: 201,
    summary:
      'Puts a changed job into the place of one that does not run, in one step: both, or neither. It keeps the jid and all that is not given',
    params: strict({ job: jobs.jobId }),
    answer: acts.submittedJob,
  }),
  retryJobs: act({
    path: '/jobs/retry',
    tag: 'Jobs',
    body: acts.selected,
    answer: acts.actResult,
    summary: 'Queues scheduled, failed and dead jobs now',
  }),
  cancelJobs: act({
    path: '/jobs/cancel',
    tag: 'Jobs',
    body: acts.selected,
    answer: acts.actResult,
    summary:
      'Ends jobs that wait, run or are scheduled: waiting clients get a failure, and the later outcome of a running job is ignored',
  }),
  deleteJobs: act({
    path: '/jobs/delete',
    tag: 'Jobs',
    body: acts.selected,
    answer: acts.deleteResult,
    summary: 'Deletes jobs that do not run, dead ones too',
  }),
  restoreJobs: act({
    path: '/jobs/restore',
    tag: 'Jobs',
    body: acts.restored,
    answer: undone,
    summary: 'Puts jobs that the caller deleted within a day back where they were, once',
  }),
  moveJobs: act({
    path: '/jobs/move',
    tag: 'Jobs',
    body: acts.moved,
    answer: acts.actResult,
    summary: 'Moves background jobs that do not run to another queue, under a new id',
  }),
  pauseQueues: act({
    path: '/queues/pause',
    tag: 'Functions and queues',
    body: acts.queueNames,
    summary: 'Stops giving jobs of these queues to Faktory consumers; new jobs are still accepted',
    answer: acts.queuesPaused,
  }),
  resumeQueues: act({
    path: '/queues/resume',
    tag: 'Functions and queues',
    body: acts.queueNames,
    summary: 'Gives jobs of these queues to Faktory consumers again',
    answer: acts.queuesDone,
  }),
  dropQueues: adminAct({
    path: '/queues/drop',
    tag: 'Functions and queues',
    body: acts.queuesDropped,
    summary:
      'Ends the waiting jobs of these queues and their pause; a queue without other jobs is not listed until a job comes',
    answer: acts.queuesDone,
  }),
  pauseFunctions: act({
    path: '/functions/pause',
    tag: 'Functions and queues',
    body: acts.functionNames,
    summary:
      'Gives no worker behind a gateway jobs of these functions; they go on coming in. Native workers take theirs from the store',
    answer: acts.functionsDone,
  }),
  resumeFunctions: act({
    path: '/functions/resume',
    tag: 'Functions and queues',
    body: acts.functionNames,
    summary: 'Gives jobs of these functions to workers at gateways again',
    answer: acts.functionsDone,
  }),
  openFunctions: adminAct({
    path: '/functions/open',
    tag: 'Functions and queues',
    body: acts.functionNames,
    summary: 'Opens functions to Faktory consumers for good',
    answer: acts.functionsDone,
  }),
  closeFunctions: adminAct({
    path: '/functions/close',
    tag: 'Functions and queues',
    body: acts.functionNames,
    summary: 'Closes functions to Faktory consumers until they are opened',
    answer: acts.functionsDone,
  }),
  setLimits: adminAct({
    path: '/functions/limits',
    tag: 'Functions and queues',
    body: acts.limits,
    summary: 'Sets how many jobs a function may have for a job of each priority to be accepted',
    answer: acts.functionsDone,
  }),
  dropFunctions: adminAct({
    path: '/functions/drop',
    tag: 'Functions and queues',
    body: acts.functionsDropped,
    summary: 'Removes functions that have no workers and no running jobs, with their waiting jobs',
    answer: acts.functionsDone,
  }),
  runCron: act({
    path: '/cron/run',
    tag: 'Cron, batches, migrations',
    body: acts.cronEntry,
    status: 201,
    summary: 'Pushes the job of an entry now; its schedule goes on as before',
    answer: acts.submittedJob,
  }),
  pauseCron: act({
    path: '/cron/pause',
    tag: 'Cron, batches, migrations',
    body: acts.cronEntries,
    summary: 'Pauses entries at all gateways: their ticks push nothing',
    answer: acts.cronEntries,
  }),
  resumeCron: act({
    path: '/cron/resume',
    tag: 'Cron, batches, migrations',
    body: acts.cronEntries,
    summary: 'Lets entries push jobs again, from their next tick on',
    answer: acts.cronEntries,
  }),
  addCron: act({
    path: '/cron',
    tag: 'Cron, batches, migrations',
    body: acts.cronGiven,
    status: 201,
    summary: 'Adds an entry at all gateways, or replaces an added one of its name',
    answer: acts.cronEntry,
  }),
  removeCron: act({
    path: '/cron/remove',
    tag: 'Cron, batches, migrations',
    body: acts.cronEntries,
    summary: 'Removes entries that were added; those of the file stay until the file changes',
    answer: acts.cronEntries,
  }),
  orderWorkers: act({
    path: '/workers/order',
    tag: 'Workers and nodes',
    body: acts.order,
    answer: acts.order,
    summary: 'Tells a Faktory worker, or all, to take no more jobs or to end',
  }),
} as const satisfies Readonly<Record<string, Endpoint>>

export type Endpoints = typeof endpoints
export type OperationName = keyof Endpoints

export const operationNames = Object.keys(endpoints) as readonly OperationName[]
