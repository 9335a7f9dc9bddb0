import {
  isRecord,
  type JobName,
  type JobRecord,
  type RecordState,
  type Reject,
} from './record/record.ts'

/** A page of a source's items, of bounded size. */
export interface Page {
  readonly records: readonly JobRecord[]
  readonly rejects: readonly Reject[]
  /** {@link Source.pages} continues after this page with it. */
  readonly cursor: string
}

/** A page of what was read. */
export function pageOf(results: readonly (JobRecord | Reject)[], cursor = ''): Page {
  const rejects = results.filter((result): result is Reject => !isRecord(result))
  return { records: results.filter(isRecord), rejects, cursor }
}

/** Bounds of one read. */
export interface PageBounds {
  /** Most jobs per page. */
  readonly jobs: number
  /** Bytes after which a page ends. */
  readonly bytes: number
}

/** A count of jobs, from a source that can only be read by taking. */
export interface SurveyRow {
  /** Empty if unknown. */
  readonly fn: string
  readonly queue?: string
  readonly state: RecordState
  readonly jobs: number
}

/** A system that jobs come from. */
export interface Source {
  /** The name of the source in import ids: its address without passwords, the same at every run. */
  readonly identity: string
  /** The limits of the source, one line each. */
  readonly limits: readonly string[]
  /** Why it must not be read while its server runs on it. */
  readonly liveReason?: string
  /** Why it is unknown if its server runs on it. */
  readonly unseenReason?: string
  /** True if reading removes: no copy without a move. */
  readonly isLive?: true
  /** Number of jobs. Absent if it is only known after reading them. */
  total?(): Promise<number>
  /** Counts of its jobs, if {@link pages} would take them. */
  survey?(): Promise<readonly SurveyRow[]>
  /**
   * All items, the oldest first if their order is known. `after`: the cursor of the last handled
   * page.
   */
  pages(after: string | undefined, bounds: PageBounds): AsyncGenerator<Page>
  /** Removes jobs of the last page for good. Absent if it cannot. */
  remove?(records: readonly JobRecord[]): Promise<void>
  /**
   * Removes jobs that a killed run had read, by their names. Only of a source that keeps what was read out of everybody's
   * reach for a while; absent elsewhere.
   */
  finish?(names: readonly JobName[]): Promise<void>
  /** Import ids of the last removal, noted by the source in the same step. Absent if it cannot. */
  lastRemoved?(): Promise<readonly Buffer[]>
  /** Drops that note. */
  forgetRemoved?(): Promise<void>
  /** Restores moved jobs; existing ones are not duplicated. Absent if it cannot. */
  restore?(records: readonly JobRecord[]): Promise<void>
  close(): Promise<void>
}
