import type { PageBounds } from '../source.ts'

/** Options of a run. */
export interface RunOptions {
  /** Name of its progress in the store. */
  readonly name: string
  /** Removes jobs at the source once the target has them. False. */
  readonly isMove?: boolean
  /** Reads a source while its server runs on it. False. */
  readonly isWhileLive?: boolean
  /** The user says that the source's server is stopped, where that cannot be seen. False. */
  readonly isStopped?: boolean
  /** Stores nothing, and reports what it would store. False. */
  readonly isDryRun?: boolean
  /** Most jobs a second. No bound. */
  readonly ratePerSecond?: number
  /** Jobs per page. 1000. */
  readonly batch?: number
  /** Larger payloads stay, bytes. 64 MiB. */
  readonly maxPayloadBytes?: number
}

export const defaultBatch = 1_000
/** A page takes a call to the store per lane, and is in memory twice. */
export const maxBatch = 5_000
export const defaultMaxPayloadBytes = 64 * 1024 * 1024
const pageBytes = 4 * 1024 * 1024

/** Bounds of one read. */
export function boundsOf({ batch = defaultBatch }: Pick<RunOptions, 'batch'>): PageBounds {
  return { jobs: batch, bytes: pageBytes }
}
