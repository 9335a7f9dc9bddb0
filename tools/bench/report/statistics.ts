/** Median and spread of some figures. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** Of an even number of figures the median is the mean of the two in the middle. */
export function spreadOf(figures: readonly number[]): Spread {
  const sorted = figures.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  const at = (index: number): number => sorted[index] ?? Number.NaN
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    min: at(0),
    max: at(sorted.length - 1),
  }
}

/** The ratio of each round's own pair. Rounds are adjacent in time, so that a busy machine hits both. */
export function ratiosOf(ours: readonly number[], theirs: readonly number[]): readonly number[] {
  return ours.map((figure, round) => figure / (theirs[round] ?? Number.NaN))
}
