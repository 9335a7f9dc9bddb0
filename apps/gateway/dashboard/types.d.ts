import type { Static } from '@sinclair/typebox'
import type { actResult, deleteResult } from '../src/web/api/schemas/acts.ts'
import type * as audit from '../src/web/api/schemas/audit.ts'
import type { failures } from '../src/web/api/schemas/failures.ts'
import type * as fleet from '../src/web/api/schemas/fleet.ts'
import type * as histories from '../src/web/api/schemas/history.ts'
import type * as jobs from '../src/web/api/schemas/jobs.ts'
import type * as lanes from '../src/web/api/schemas/lanes.ts'
import type { cronRuns, runs } from '../src/web/api/schemas/runs.ts'
import type { searchAnswer } from '../src/web/api/schemas/search.ts'
import type { troubles } from '../src/web/api/schemas/troubles.ts'
import type * as sessions from '../src/web/api/schemas/session.ts'

/** The answers of the API, by the schemas that it is checked by itself. */
export type Overview = Static<typeof lanes.overview>
export type FunctionEntry = Static<typeof lanes.functionEntry>
export type FunctionPage = Static<typeof lanes.functionPage>
export type OneFunction = Static<typeof lanes.oneFunction>
export type OneQueue = Static<typeof lanes.oneQueue>
export type Failures = Static<typeof failures>
export type Runs = Static<typeof runs>
export type CronRuns = Static<typeof cronRuns>
export type QueueEntry = Static<typeof lanes.queueEntry>
export type QueuePage = Static<typeof lanes.queuePage>
export type Throttles = Static<typeof lanes.throttles>
export type Found = Static<typeof searchAnswer>
export type Job = Static<typeof jobs.jobPage>['jobs'][number]
export type JobPage = Static<typeof jobs.jobPage>
export type JobDetail = Static<typeof jobs.jobDetail>
export type JobFilter = Static<typeof jobs.jobFilter>
export type ActResult = Static<typeof actResult>
/** If the jobs of a deletion can be brought back. */
export type Undoing = Pick<Static<typeof deleteResult>, 'undo' | 'no_undo' | 'act'>
export type Audit = Static<typeof audit.auditList>
export type Undone = Static<typeof audit.undone>
export type Workers = Static<typeof fleet.workers>
export type Worker = Workers['workers'][number]
export type OneWorker = Static<typeof fleet.oneWorker>
export type Connections = Static<typeof fleet.connections>
export type Nodes = Static<typeof fleet.nodes>
export type Cron = Static<typeof fleet.cron>
export type Batch = Static<typeof fleet.batch>
export type BatchPage = Static<typeof fleet.batchPage>
export type Migrations = Static<typeof fleet.migrations>
export type Troubles = Static<typeof troubles>
export type Session = Static<typeof sessions.session>
export type History = Static<typeof histories.history>
