/** The results of a run. Lists hold one line per finding; bounds are kept where `violations` is 0. */
export interface Verdict {
  readonly acknowledged: number
  /** Jobs that were run to their end. */
  readonly run: number
  /** Acknowledged, never run to the end, and in no place of the store. */
  readonly lost: readonly string[]
  /** Lost as well, where the servers' settings promise no more; and how many that could be. */
  readonly forfeited: number
  readonly forfeitedBound: number
  /** Run, and never submitted. */
  readonly unexpected: readonly string[]
  /** Left where nothing should be left. */
  readonly stuck: readonly string[]
  /** Runs beyond the first of their job. */
  readonly duplicates: number
  /** Duplicates that the faults allow. */
  readonly duplicatesBound: number
  /** Duplicates of runs that no fault touched. */
  readonly unexcused: readonly string[]
  /** Two runs of one job at once, both with the right to it. */
  readonly overlaps: readonly string[]
  /** Rules of the store that are broken. */
  readonly invariants: readonly string[]
  /** Figures of the gateway that are not those of the logs. */
  readonly figures: readonly string[]
}

const lists = [
  'lost',
  'unexpected',
  'stuck',
  'unexcused',
  'overlaps',
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
