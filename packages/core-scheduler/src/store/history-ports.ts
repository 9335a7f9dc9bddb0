/** Time spans whose sums are kept, and how many of each, the current one included. */
export const historySpans = {
  minute: { ms: 60_000, kept: 60 },
  hour: { ms: 3_600_000, kept: 24 },
} as const

export type HistorySpan = keyof typeof historySpans

/** Events of one minute or hour. */
export interface HistoryBucket {
  /** The begin of the bucket, milliseconds since 1970. */
  readonly startMs: number
  readonly sums: ReadonlyMap<string, number>
}

/** Runs of a function that are kept, and for how long after the last one, milliseconds. */
export const runBounds = { kept: 100, keptMs: 7 * 24 * 3_600_000 } as const

/** Runs of a cron entry that are kept, and for how long after the last one, milliseconds. */
export const cronRunBounds = { kept: 10, keptMs: 400 * 24 * 3_600_000 } as const

/** The part of the store for recent events: sums over all nodes, by minute and by hour, and the last runs. */
export interface HistoryStore {
  /** Adds runs of a function, the oldest first; the oldest of more than {@link runBounds.kept} go. */
  addRuns(fn: string, runs: readonly string[]): Promise<void>
  /** The last runs of a function, the oldest first. */
  runs(fn: string): Promise<readonly string[]>
  /** Adds whole numbers to the sums of the minute and of the hour in which `atMs` is. `of`: to those of one thing. */
  add(atMs: number, sums: ReadonlyMap<string, number>, of?: string): Promise<void>
  /** Buckets up to the one in which `atMs` is, oldest first, without those in which nothing happened. */
  read(span: HistorySpan, atMs: number, of?: string): Promise<readonly HistoryBucket[]>
}

/** Begins of the buckets that are kept, up to the one in which `atMs` is, oldest first. */
export function bucketStarts(span: HistorySpan, atMs: number): readonly number[] {
  const { ms, kept } = historySpans[span]
  const last = Math.floor(atMs / ms) * ms
  return Array.from({ length: kept }, (_none, at) => last - (kept - 1 - at) * ms)
}
