/**
 * Results of a run. Lists have one line per finding; the run kept its bounds if `violations` is
 * empty.
 */
export interface Verdict {
  readonly acknowledged: number
  /** Jobs that ran to their end. */
  readonly run: number
  /** Acknowledged, never run to the end, and in no place of the store. */
  readonly lost: readonly string[]
  /** Lost where the servers' settings promise no more, and the bound of that. */
  readonly forfeited: number
  readonly forfeitedBound: number
  /** Run, but never submitted. */
  readonly unexpected: readonly string[]
  /** Found where nothing should be left. */
  readonly stuck: readonly string[]
  /** Runs beyond the first of their job. */
  readonly duplicates: number
  /** Duplicates that the faults allow. */
  readonly duplicatesBound: number
  /** Duplicates of runs that no fault touched. */
  readonly unexcused: readonly string[]
  /** Two runs of one job at once, both with a valid lease. */
  readonly overlaps: readonly string[]
  /** Callbacks of batches that began before jobs that they follow had ended. */
  readonly early: readonly string[]
  /** Unique locks that two jobs held. */
  readonly locks: readonly string[]
  /** Jobs that ran beyond the concurrency of their queue. */
  readonly throttles: readonly string[]
  /** Violated invariants of the store. */
  readonly invariants: readonly string[]
  /** Figures of the gateway that contradict the logs. */
  readonly figures: readonly string[]
}

const lists = [
  'lost',
  'unexpected',
  'stuck',
  'unexcused',
  'overlaps',
  'early',
  'locks',
  'throttles',
  'invariants',
  'figures',
] as const satisfies (keyof Verdict)[]

/** Violations, one line each. */
export function violationsOf(verdict: Verdict): string[] {
  const { duplicates, duplicatesBound } = verdict
  const tooMany = duplicates > duplicatesBound ? [`duplicates: more than ${duplicatesBound}`] : []
  const found = lists.flatMap((name) => verdict[name].map((finding) => `${name}: ${finding}`))
  return [...tooMany, ...found]
}
