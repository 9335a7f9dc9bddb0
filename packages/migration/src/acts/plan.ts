import { faultOf } from '../record/fit.ts'
import { importIdOf } from '../record/identity.ts'
import { boundsOf, defaultMaxPayloadBytes, type RunOptions } from './options.ts'
import type { JobRecord, Mutable, RecordState, RejectReason } from '../record/record.ts'
import type { Selection } from './selection.ts'
import type { Source, SurveyRow } from '../source.ts'
import type { Fault, Target } from '../target.ts'

/** Jobs of one function and queue in one state at a source. */
export interface PlanRow {
  readonly fn: string
  readonly queue: string | undefined
  readonly state: RecordState
  readonly jobs: number
  readonly bytes: number
  readonly largestBytes: number
  /** Earliest and latest due or queueing time, milliseconds since 1970; absent if unknown. */
  readonly oldestMs?: number
  readonly newestMs?: number
}

/** A kind of job that would stay: how many, and the first one. */
export interface PlanReject {
  readonly reason: RejectReason
  readonly jobs: number
  readonly example: string
}

export interface Plan {
  readonly rows: readonly PlanRow[]
  readonly jobs: number
  readonly bytes: number
  readonly rejects: readonly PlanReject[]
  /** Jobs that would join an earlier one: same function and unique id. */
  readonly joining: number
  /** The first of these; absent where there is none. */
  readonly joiningExample?: string
  /** Left out by the selection. */
  readonly leftOut: number
  /** How long it took to read all of it now, seconds; absent where it was only counted. */
  readonly readSeconds?: number
  /** Jobs a second that the estimate takes storing for. */
  readonly assumedRate: number
  /** About how long a run takes, seconds: to read as now, and to store at that rate. */
  readonly estimatedSeconds: number
}

/** Half of what two busy cores store: docs/migrate/migration.md, Figures. */
const usualRate = 10_000
/** Unique ids remembered, 40 bytes each. */
const maxUnique = 1_000_000

type RowDraft = Mutable<PlanRow>

/** Reads everything at a source and changes nothing. */
export async function makePlan(
  source: Source,
  selection: Selection,
  options: Pick<RunOptions, 'batch' | 'ratePerSecond' | 'maxPayloadBytes'>,
  target: Pick<Target, 'faultOf'> = {},
): Promise<Plan> {
  const max = options.maxPayloadBytes ?? defaultMaxPayloadBytes
  const draft = new PlanDraft((record) => faultOf(record, max) ?? target.faultOf?.(record))
  if (source.survey) {
    for (const row of await source.survey()) draft.surveyed(row)
  } else {
    const startedMs = performance.now()
    for await (const { records, rejects } of source.pages(undefined, boundsOf(options))) {
      for (const reject of rejects) draft.reject(reject.reason, reject.message)
      for (const record of records) draft.add(selection.pick(record))
    }
    draft.readSeconds = (performance.now() - startedMs) / 1_000
  }
  return draft.finish(Math.min(options.ratePerSecond ?? usualRate, usualRate))
}

class PlanDraft {
  readonly #faultOf: (record: JobRecord) => Fault | undefined
  readonly #rows = new Map<string, RowDraft>()
  readonly #rejects = new Map<RejectReason, { jobs: number; readonly example: string }>()
  readonly #unique = new Set<number>()
  readSeconds: number | undefined
  #joining = 0
  #joiningExample: string | undefined
  #leftOut = 0

  constructor(fault: (record: JobRecord) => Fault | undefined) {
    this.#faultOf = fault
  }

  add(record: JobRecord | undefined): void {
    if (!record) {
      this.#leftOut += 1
      return
    }
    const fault = this.#faultOf(record)
    if (fault) {
      this.reject(fault[0], `${record.fn}: ${fault[1]}`)
      return
    }
    const row = this.#row(record.fn, record.queue, record.state)
    row.jobs += 1
    row.bytes += record.payload.length
    row.largestBytes = Math.max(row.largestBytes, record.payload.length)
    const atMs = record.dueAtMs ?? record.enqueuedAtMs
    if (atMs !== undefined) {
      row.oldestMs = Math.min(row.oldestMs ?? atMs, atMs)
      row.newestMs = Math.max(row.newestMs ?? atMs, atMs)
    }
    if (record.unique) this.#remember(record.fn, record.unique)
  }

  surveyed({ fn, queue, state, jobs }: SurveyRow): void {
    this.#row(fn, queue, state).jobs += jobs
  }

  reject(reason: RejectReason, example: string): void {
    const known = this.#rejects.get(reason)
    if (known) known.jobs += 1
    else this.#rejects.set(reason, { jobs: 1, example })
  }

  finish(assumedRate: number): Plan {
    const rows = [...this.#rows.values()].sort((one, other) => (one.fn < other.fn ? -1 : 1))
    const jobs = rows.reduce((sum, row) => sum + row.jobs, 0)
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
    return {
      rows,
      jobs,
      bytes,
      rejects: [...this.#rejects].map(([reason, reject]) => ({ reason, ...reject })),
      joining: this.#joining,
      ...(this.#joiningExample !== undefined && { joiningExample: this.#joiningExample }),
      leftOut: this.#leftOut,
      ...(this.readSeconds !== undefined && { readSeconds: this.readSeconds }),
      assumedRate,
      estimatedSeconds: Math.ceil((this.readSeconds ?? 0) + jobs / assumedRate),
    }
  }

  #row(fn: string, queue: string | undefined, state: RecordState): RowDraft {
    const key = `${fn}\0${queue ?? ''}\0${state}`
    const known = this.#rows.get(key)
    if (known) return known
    const row = { fn, queue, state, jobs: 0, bytes: 0, largestBytes: 0 }
    this.#rows.set(key, row)
    return row
  }

  #remember(fn: string, unique: Buffer): void {
    const hashed = importIdOf(fn, unique).readUIntBE(0, 6)
    if (this.#unique.has(hashed)) {
      this.#joining += 1
      this.#joiningExample ??= `${fn}: ${unique.toString()}`
    } else if (this.#unique.size < maxUnique) this.#unique.add(hashed)
  }
}
