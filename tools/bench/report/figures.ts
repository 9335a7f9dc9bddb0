import { ratiosOf, spreadOf, type Spread } from './statistics.ts'

/** A bound on a figure's median, or on the median of its ratios to a baseline. */
export interface Target {
  readonly relation: '>=' | '<=' | '<'
  readonly bound: number
}

/** One line of the table, with a sample for each round. */
export interface Figure {
  readonly name: string
  readonly unit: 'jobs/s' | 'us' | 'us/job' | 'MB' | 'B' | '%' | 's' | 'commands/s' | 'commands'
  readonly ours: readonly number[]
  /** The baseline, round by round; absent: no comparison. */
  readonly against?: { readonly name: string; readonly samples: readonly number[] }
  readonly target?: Target
}

/** A figure as printed, and as JSON. */
export interface Judged extends Figure {
  readonly median: Spread
  readonly ratio: Spread | undefined
  readonly verdict: 'ok' | 'short' | undefined
}

const holds: Record<Target['relation'], (value: number, bound: number) => boolean> = {
  '>=': (value, bound) => value >= bound,
  '<=': (value, bound) => value <= bound,
  '<': (value, bound) => value < bound,
}

export function atLeast(bound: number): Target {
  return { relation: '>=', bound }
}

export function atMost(bound: number): Target {
  return { relation: '<=', bound }
}

export function below(bound: number): Target {
  return { relation: '<', bound }
}

export function judge(figure: Figure): Judged {
  const { ours, against, target } = figure
  const median = spreadOf(ours)
  const ratio = against === undefined ? undefined : spreadOf(ratiosOf(ours, against.samples))
  const value = (ratio ?? median).median
  const verdict =
    target === undefined ? undefined : holds[target.relation](value, target.bound) ? 'ok' : 'short'
  return { ...figure, median, ratio, verdict }
}
