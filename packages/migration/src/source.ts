import type { JobRecord, RecordState, Reject } from './record/record.ts'

/** A bounded piece of what a source holds. */
export interface Page {
  readonly records: readonly JobRecord[]
  readonly rejects: readonly Reject[]
  /** Text with which {@link Source.pages} goes on behind this page. */
  readonly cursor: string
}

/** How much of a source is read at once. */
export interface PageBounds {
  /** Jobs of a page at most. */
  readonly jobs: number
  /** Bytes after which a page ends. */
  readonly bytes: number
}

/** A count of jobs, as a source that can only be read by taking from it states it. */
export interface SurveyRow {
  /** Empty where it does not say. */
  readonly fn: string
  readonly queue?: string
  readonly state: RecordState
  readonly jobs: number
}

/** Where jobs come from. */
export interface Source {
  /** Its name in import ids: its address without passwords, always the same for one source. */
  readonly identity: string
  /** Limits of the source, one line each. */
  readonly limits: readonly string[]
  /** Why it must not be read now, where its server runs on it. */
  readonly liveReason?: string
  /** True where reading takes: there is no copy without a move. */
  readonly isLive?: true
  /** Jobs that it holds, as far as it can be told without reading them. */
  total(): Promise<number | undefined>
  /** Its jobs, where {@link pages} would take them. */
  survey?(): Promise<readonly SurveyRow[]>
  /** All that it holds, the oldest first where it knows. `after`: the cursor of the last page that was dealt with. */
  pages(after: string | undefined, bounds: PageBounds): AsyncGenerator<Page>
  /** Removes jobs of the last page for good. Absent where it cannot. */
  remove?(records: readonly JobRecord[]): Promise<void>
  /** Import ids of the last removal, which the source noted in the same step. Absent where it cannot. */
  lastRemoved?(): Promise<readonly Buffer[]>
  /** Drops that note. */
  forgetRemoved?(): Promise<void>
  /** Puts jobs back that were moved; one that is there already is not doubled. Absent where it cannot. */
  restore?(records: readonly JobRecord[]): Promise<void>
  close(): Promise<void>
}
