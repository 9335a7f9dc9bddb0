import { seriesName, type Figure } from './figure.ts'

/** Bounds of the buckets, seconds: from a millisecond, which an idle worker takes, to an hour. */
export const latencyBuckets = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300, 3600] as const

/** A histogram as plain numbers: to count a value costs a few comparisons. */
export class Latencies {
  /** Values by bucket, not summed up; the last is for what is longer than all bounds. */
  readonly #counts: number[] = Array.from({ length: latencyBuckets.length + 1 }, () => 0)
  readonly #series: readonly string[]
  #sum = 0

  /** `labels` as a scraper reads them. */
  constructor(name: string, labels: string) {
    const bounds = [...latencyBuckets.map(String), '+Inf']
    this.#series = [
      ...bounds.map((bound) => seriesName(`${name}_bucket`, `${labels},le="${bound}"`)),
      seriesName(`${name}_sum`, labels),
      seriesName(`${name}_count`, labels),
    ]
  }

  observe(seconds: number): void {
    let at = 0
    while (at < latencyBuckets.length && seconds > (latencyBuckets[at] ?? 0)) at += 1
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum += seconds
  }

  /** Adds its series and their values. */
  addTo(series: string[], values: number[]): void {
    for (const one of this.#series) series.push(one)
    let total = 0
    for (const count of this.#counts) {
      total += count
      values.push(total)
    }
    values.push(this.#sum, total)
  }
}

/** Several histograms of one name. */
export function histogram(name: string, help: string, all: Iterable<Latencies>): Figure {
  const series: string[] = []
  const values: number[] = []
  for (const latencies of all) latencies.addTo(series, values)
  return { ...{ name, help, type: 'histogram', aggregator: 'sum' }, series, values }
}
