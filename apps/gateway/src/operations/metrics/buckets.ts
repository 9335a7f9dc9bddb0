import type { Metric } from 'prom-client'
import { type Labels, reading, type ShownValue } from './figure.ts'

/** One series of a histogram as plain numbers: counting a value takes a few comparisons. */
export class Buckets {
  readonly #labels: Labels
  readonly #bounds: readonly number[]
  /** Labels of the buckets. */
  readonly #bucketLabels: readonly Labels[]
  /** Not cumulative; the last is for values over all bounds. */
  readonly #counts: number[]
  /** Traces of the last values, by bucket. */
  readonly #exemplars: ShownValue['exemplar'][] = []
  #sum = 0

  constructor(labels: Labels, bounds: readonly number[]) {
    this.#labels = labels
    this.#bounds = bounds
    this.#bucketLabels = [...bounds, '+Inf'].map((le) => ({ ...labels, le }))
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  /** `traceId`: the trace that explains the value. */
  observe(value: number, traceId?: string): void {
    const bounds = this.#bounds
    let at = 0
    while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum += value
    if (traceId === undefined) return
    this.#exemplars[at] = { labelSet: { trace_id: traceId }, value, timestamp: Date.now() / 1000 }
  }

  values(name: string): readonly ShownValue[] {
    const sharedLabels = this.#labels
    let count = 0
    const buckets = this.#bucketLabels.map((bucketLabels, at) => {
      count += this.#counts[at] ?? 0
      return {
        metricName: `${name}_bucket`,
        sharedLabels: bucketLabels,
        value: count,
        exemplar: this.#exemplars[at],
      }
    })
    return [
      ...buckets,
      { metricName: `${name}_sum`, sharedLabels, value: this.#sum },
      { metricName: `${name}_count`, sharedLabels, value: count },
    ]
  }
}

/** Several series of one name. */
export function histogram(name: string, help: string, all: Iterable<Buckets>): Metric {
  return reading(
    'histogram',
    name,
    help,
    Array.from(all).flatMap((buckets) => buckets.values(name)),
  )
}
