/** Bounds of the buckets: from a millisecond, which an idle worker takes, to an hour. */
export const latencyBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30, 300, 3600,
] as const

/** A histogram as plain numbers: to count a value costs a few comparisons. */
export class Latencies {
  /** Values by bucket, not summed up; the last is for what is longer than all bounds. */
  readonly counts: number[] = Array.from({ length: latencyBuckets.length + 1 }, () => 0)
  sum = 0

  observe(seconds: number): void {
    let at = 0
    while (at < latencyBuckets.length && seconds > (latencyBuckets[at] ?? 0)) at += 1
    this.counts[at] = (this.counts[at] ?? 0) + 1
    this.sum += seconds
  }
}
