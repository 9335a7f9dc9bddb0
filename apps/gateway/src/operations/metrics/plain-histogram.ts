import { type Figure, seriesName } from './figure.ts'

/** A histogram as plain numbers: counting a value takes a few comparisons. */
export class PlainHistogram {
  readonly #bounds: readonly number[]
  /** Values by bucket, not cumulative; the last is for values over all bounds. */
  readonly #counts: number[]
  readonly #series: readonly string[]
  /** Traces of the last values, by bucket. */
  #exemplars: (string | undefined)[] | undefined
  #sum = 0

  /** `labels`: in the scrape format. */
  constructor(name: string, labels: string, bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
    const before = labels === '' ? '' : `${labels},`
    this.#series = [
      ...[...bounds.map(String), '+Inf'].map((bound) =>
        seriesName(`${name}_bucket`, `${before}le="${bound}"`),
      ),
      seriesName(`${name}_sum`, labels),
      seriesName(`${name}_count`, labels),
    ]
  }

  /** `traceId`: the trace that explains the value. */
  observe(value: number, traceId?: string): void {
    const bounds = this.#bounds
    let at = 0
    while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum += value
    if (traceId === undefined) return
    this.#exemplars ??= []
    this.#exemplars[at] = `{trace_id="${traceId}"} ${value}`
  }

  /** Appends its series and their values. */
  addTo(series: string[], values: number[], exemplars: Map<string, string>): void {
    for (const [at, one] of this.#series.entries()) {
      series.push(one)
      const exemplar = this.#exemplars?.[at]
      if (exemplar !== undefined) exemplars.set(one, exemplar)
    }
    let total = 0
    for (const count of this.#counts) {
      total += count
      values.push(total)
    }
    values.push(this.#sum, total)
  }
}

/** Several histograms of one name. */
export function histogram(name: string, help: string, all: Iterable<PlainHistogram>): Figure {
  const series: string[] = []
  const values: number[] = []
  const exemplars = new Map<string, string>()
  for (const one of all) one.addTo(series, values, exemplars)
  return {
    name,
    help,
    type: 'histogram',
    series,
    values,
    ...(exemplars.size > 0 && { exemplars: Object.fromEntries(exemplars) }),
  }
}
