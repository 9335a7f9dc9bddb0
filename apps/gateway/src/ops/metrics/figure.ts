/** One figure of a metric. `metricName` where it is a part of a histogram. */
export interface FigureValue {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

/** A metric with its values: what prom-client passes between processes, and what is made here beside it. */
export interface Figure {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  /** How figures of several processes become one. */
  readonly aggregator: 'sum' | 'min' | 'max' | 'average' | 'first' | 'omit'
  readonly values: readonly FigureValue[]
}

type FigureOptions = Partial<Pick<Figure, 'aggregator'>>

export function gauge(
  name: string,
  help: string,
  values: readonly FigureValue[],
  { aggregator = 'sum' }: FigureOptions = {},
): Figure {
  return { name, help, type: 'gauge', aggregator, values }
}

export function counter(name: string, help: string, values: readonly FigureValue[]): Figure {
  return { name, help, type: 'counter', aggregator: 'sum', values }
}

export function histogram(name: string, help: string, values: readonly FigureValue[]): Figure {
  return { name, help, type: 'histogram', aggregator: 'sum', values }
}

/** A figure without labels. */
export function only(value: number): readonly FigureValue[] {
  return [{ labels: {}, value }]
}
