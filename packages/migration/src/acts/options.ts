import type { PageBounds } from '../source.ts'

/** How jobs are moved. */
export interface RunOptions {
  /** Under which the progress is kept. */
  readonly name: string
  /** Take jobs away at the source when the target has them. False. */
  readonly isMove?: boolean
  /** Read a source that its server runs on. False. */
  readonly isWhileLive?: boolean
  /** Store nothing, and say what would be stored. False. */
  readonly isDryRun?: boolean
  /** Jobs a second at most. No bound. */
  readonly ratePerSecond?: number
  /** Jobs of a page. 1000. */
  readonly batch?: number
  /** Payloads above it stay. 64 MiB. */
  readonly maxPayloadBytes?: number
}

export const defaultBatch = 1_000
/** A page takes a call of the store's for each of its lanes, and stands in memory twice. */
export const mostBatch = 5_000
export const defaultMaxPayloadBytes = 64 * 1024 * 1024
const pageBytes = 4 * 1024 * 1024

/** How much is read at once. */
export function boundsOf({ batch = defaultBatch }: Pick<RunOptions, 'batch'>): PageBounds {
  return { jobs: batch, bytes: pageBytes }
}
