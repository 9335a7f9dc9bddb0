import { ratiosOf, spreadOf, type Spread } from './statistics.ts'

/** A bound on a figure's median, or on the median of its ratios to a baseline. */
export interface Target {
  readonly relation: '>=' | '<=' | '<'
  readonly bound: number
}

/** One line of the table, with a sample for each round. */
export interface Figure {
  readonly name: string
  readonly unit: 'jobs/s' | 'us' | 'us/job' | 'MB' | '%' | 's' | 'commands/s' | 'commands'
  readonly ours: readonly number[]
  /** The baseline, round by round; absent: no comparison. */
  readonly against?: { readonly name: string; readonly samples: readonly number[] }
  readonly target?: Target
}

/** Turns of a baseline. */
export interface Baseline<Turn> {
  readonly name: string
  readonly turns: readonly Turn[]
}

/** A figure of turns by one of their keys, held against the same of others. */
export function figureOf<Key extends string>(
  about: Pick<Figure, 'name' | 'unit'> & { readonly target?: Target | undefined },
  key: Key,
  ours: readonly Readonly<Record<Key, number>>[],
  against?: Baseline<Readonly<Record<Key, number>>>,
): Figure {
  const { target, ...named } = about
  return {
    ...named,
    ours: ours.map((turn) => turn[key]),
    ...(against && {
      against: { name: against.name, samples: against.turns.map((turn) => turn[key]) },
    }),
    ...(target && { target }),
  }
}

/** Jobs a second, and processor time of a job, microseconds. */
export interface Cost {
  readonly rate: number
  readonly microseconds: number
}

/** Both figures of a cost. */
export function costFigures(
  name: string,
  ours: readonly Cost[],
  against: Baseline<Cost>,
  targets: Partial<Record<keyof Cost, Target>> = {},
): readonly Figure[] {
  const spent = `${name}: processor time, Redis included`
  const { rate, microseconds } = targets
  return [
    figureOf({ name, unit: 'jobs/s', target: rate }, 'rate', ours, against),
    figureOf({ name: spent, unit: 'us/job', target: microseconds }, 'microseconds', ours, against),
  ]
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
