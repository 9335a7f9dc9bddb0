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

/** The figures of several processes as those of one. */
export function aggregate(parts: readonly (readonly Figure[])[]): readonly Figure[] {
  const found = new Map<string, { readonly figure: Figure; values: Map<string, number[]> }>()
  for (const figure of parts.flat()) {
    if (figure.aggregator === 'omit') continue
    const of = found.get(figure.name) ?? { figure, values: new Map<string, number[]>() }
    found.set(figure.name, of)
    for (const [at, series] of figure.series.entries()) {
      const values = of.values.get(series)
      const value = figure.values[at] ?? 0
      if (values) values.push(value)
      else of.values.set(series, [value])
    }
  }
  return [...found.values()].map(({ figure: { name, help, type, aggregator }, values }) => ({
    ...{ name, help, type, aggregator },
    series: [...values.keys()],
    values: [...values.values()].map((of) => joined[aggregator](of)),
  }))
}
