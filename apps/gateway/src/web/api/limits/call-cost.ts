import type { ApiInput } from '../api.ts'
import type { CallBounds } from './call-limiter.ts'
import type { OperationName } from '../endpoints.ts'
import { readsEachJob } from '../reads/job-scan.ts'
import { pageSizes } from '../schemas/common.ts'
import type { Selection } from '../schemas/acts.ts'
import type { JobFilter } from '../schemas/jobs.ts'

/** A unit of work is that of a job on a page, some 30 us of a processor. */
const unitCosts = {
  /** The least that a call costs. */
  min: 20,
  /** Bytes of a request or of a new answer. */
  bytes: 512,
  /** Units of a job that an act names, which is looked up alone. */
  namedJob: 5,
} as const

export type CallKind = 'light' | 'heavy'

/** Each kind has a part of the process, so that heavy calls take nothing from light ones. */
export const callBounds: Readonly<Record<CallKind, CallBounds>> = {
  light: {
    atOnce: 4,
    waiting: 64,
    waitMs: 5_000,
    minUnits: unitCosts.min,
    unitsPerSecond: 2_000,
    burstUnits: 4_000,
  },
  heavy: {
    atOnce: 1,
    waiting: 8,
    waitMs: 5_000,
    minUnits: unitCosts.min,
    unitsPerSecond: 5_000,
    burstUnits: 20_000,
  },
}

/** A light call has at most so many entries on a page, named jobs, and bytes of a payload. */
const lightMost = { entries: pageSizes.usual * 2, named: 20, payloadBytes: 65_536 } as const

type Weigh = (input: ApiInput) => boolean

const hasLongPage: Weigh = ({ query }) =>
  ((query as { limit?: number }).limit ?? 0) > lightMost.entries

/** Lists that are read from the store or from other nodes as a whole, to be sorted. */
const sortsAll: Weigh = (input) => {
  const { sort } = input.query as { sort?: string }
  return hasLongPage(input) || !(sort === undefined || sort === 'made' || sort === 'time')
}

const actsOnMany: Weigh = ({ body }) => {
  const { jobs, filter } = body as Selection
  return filter !== undefined || (jobs?.length ?? 0) > lightMost.named
}

/** Operations that may be heavy, and when they are. */
const heavy: Readonly<Partial<Record<string, Weigh>>> = {
  listJobs: (input) => hasLongPage(input) || readsEachJob(input.query as JobFilter),
  getJob: ({ query }) =>
    ((query as { max_payload_bytes?: number }).max_payload_bytes ?? 0) > lightMost.payloadBytes,
  listFunctions: hasLongPage,
  listQueues: hasLongPage,
  listConnections: hasLongPage,
  listAudit: sortsAll,
  listBatches: sortsAll,
  dropFunctions: () => true,
  dropQueues: () => true,
  listFailures: () => true,
  listWorkers: sortsAll,
  getWorker: hasLongPage,
  retryJobs: actsOnMany,
  cancelJobs: actsOnMany,
  deleteJobs: actsOnMany,
  moveJobs: actsOnMany,
  restoreJobs: () => true,
} satisfies Partial<Record<OperationName, Weigh>>

export function kindOf(operation: string, input: ApiInput): CallKind {
  return heavy[operation]?.(input) === true ? 'heavy' : 'light'
}

/** The units of a call: by the jobs that it looked at, and by the bytes of its request and of an answer not made before. */
export function unitsOf({ body }: ApiInput, answer: unknown, bytes: number): number {
  const { looked_at: lookedAt = 0 } = (answer ?? {}) as { readonly looked_at?: number }
  const { jobs } = (body ?? {}) as Partial<Selection>
  const perJob = Array.isArray(jobs) ? unitCosts.namedJob : 1
  return Math.max(lookedAt * perJob, Math.ceil(bytes / unitCosts.bytes))
}
