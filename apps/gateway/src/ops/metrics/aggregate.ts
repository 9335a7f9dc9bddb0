import type { Aggregator, Figure } from './figure.ts'

/** Combines the values of one series; each process has one or none. */
const joined: Readonly<Record<Aggregator, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  average: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  first: ([value = 0]) => value,
  omit: () => 0,
}

interface Gathered {
  readonly figure: Figure
  readonly values: Map<string, number[]>
  exemplars: NonNullable<Figure['exemplars']> | undefined
}

/** The figures of several processes as those of one. Of exemplars of one series the last stays. */
export function aggregate(parts: readonly (readonly Figure[])[]): readonly Figure[] {
  const found = new Map<string, Gathered>()
  for (const figure of parts.flat()) {
    if (figure.aggregator === 'omit') continue
    const of: Gathered = found.get(figure.name) ?? {
      ...{ figure, values: new Map<string, number[]>(), exemplars: undefined },
    }
    found.set(figure.name, of)
    if (figure.exemplars) of.exemplars = { ...of.exemplars, ...figure.exemplars }
    for (const [at, series] of figure.series.entries()) {
      const values = of.values.get(series)
      const value = figure.values[at] ?? 0
      if (values) values.push(value)
      else of.values.set(series, [value])
    }
  }
  return [...found.values()].map(({ figure, values, exemplars }) => {
    const { name, help, type, aggregator } = figure
    return {
      ...{ name, help, type, aggregator },
      series: [...values.keys()],
      values: [...values.values()].map((of) => joined[aggregator](of)),
      ...(exemplars && { exemplars }),
    }
  })
}
