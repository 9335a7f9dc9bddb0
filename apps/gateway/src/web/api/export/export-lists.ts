import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { type Endpoint, nothing, oneOf, strict } from '../endpoint.ts'
import type { OperationName } from '../endpoints.ts'
import { functionEntry, functionQuery, queueEntry, queueQuery } from '../schemas/lanes.ts'
import { jobQuery, jobSummary } from '../schemas/jobs.ts'

export const exportFormats = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
} as const
export type ExportFormat = keyof typeof exportFormats

const format = Type.Optional(
  oneOf(['ndjson', 'csv'] as const, 'A JSON text a line, or a table. ndjson'),
)

/** Lists that can be had as a file: the operation that has their pages, the name of the rows in it, and their schema. */
export const exportLists = {
  exportJobs: { operation: 'listJobs', rows: 'jobs', row: jobSummary, filter: jobQuery },
  exportFunctions: {
    operation: 'listFunctions',
    rows: 'functions',
    row: functionEntry,
    filter: functionQuery,
  },
  exportQueues: { operation: 'listQueues', rows: 'queues', row: queueEntry, filter: queueQuery },
} as const satisfies Readonly<
  Record<string, { operation: OperationName; rows: string; row: TSchema; filter: TObject }>
>
export type ExportName = keyof typeof exportLists
export const exportNames = Object.keys(exportLists) as readonly ExportName[]

/** Parts of a list's query that a file does not have. */
const ofPages = new Set(['limit', 'cursor', 'payload_start'])

/** The operations of the web port that send lists. */
export const exportEndpoints = Object.fromEntries(
  exportNames.map((name) => {
    const { rows, filter: whole } = exportLists[name]
    const own = Object.entries(whole.properties).filter(([name]) => !ofPages.has(name))
    const endpoint: Endpoint = {
      method: 'GET',
      path: `/export/${rows}`,
      role: 'reader',
      params: nothing,
      tag: rows === 'jobs' ? 'Jobs' : 'Functions and queues',
      summary: `The list of ${rows} as a file, up to a million rows`,
      query: strict({ ...Object.fromEntries(own), format }),
      answer: Type.String(),
      type: exportFormats.ndjson,
    }
    return [name, endpoint]
  }),
) as Readonly<Record<ExportName, Endpoint>>
