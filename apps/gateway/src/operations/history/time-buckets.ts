/** Buckets of times, two for each doubling: from a millisecond to some four hours. */
const bucketCount = 49
const perDoubling = 2

/** The bucket of a time: bucket n has times up to {@link upperMs} of n. */
export function bucketOf(ms: number): number {
  if (!(ms > 1)) return 0
  return Math.min(bucketCount - 1, Math.ceil(Math.log2(ms) * perDoubling))
}

/** The longest time of a bucket, milliseconds. */
function upperMs(bucket: number): number {
  return 2 ** (bucket / perDoubling)
}

/** Counts of times by bucket. */
export type TimeCounts = ReadonlyMap<number, number>

/**
 * The time that a share of all times does not exceed, seconds; undefined without times. As exact as its bucket,
 * whose longest time is 1.41 times its shortest.
 */
export function percentileSeconds(counts: TimeCounts, share: number): number | undefined {
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (all === 0) return undefined
  let left = all * share
  for (const bucket of [...counts.keys()].sort((one, other) => one - other)) {
    const count = counts.get(bucket) ?? 0
    if (count >= left) {
      const lowerMs = bucket === 0 ? 0 : upperMs(bucket - 1)
      return (lowerMs + ((upperMs(bucket) - lowerMs) * left) / count) / 1000
    }
    left -= count
  }
  return undefined
}
