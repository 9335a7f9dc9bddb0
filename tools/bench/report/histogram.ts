/** Cells of a latency histogram, `[nanoseconds, how many]`, as the load generator writes them. */
export type Cells = readonly (readonly [number, number])[]

/** One histogram of several, sorted by value. */
export function mergeHistograms(histograms: readonly Cells[]): Cells {
  const counts = new Map<number, number>()
  for (const [value, count] of histograms.flat())
    counts.set(value, (counts.get(value) ?? 0) + count)
  return [...counts].sort(([a], [b]) => a - b)
}

/** The value that `percent` of all values do not exceed; cells must be sorted. NaN without any. */
export function percentile(cells: Cells, percent: number): number {
  const total = cells.reduce((sum, [, count]) => sum + count, 0)
  const wanted = Math.max(1, Math.ceil((total * percent) / 100))
  let seen = 0
  for (const [value, count] of cells) {
    seen += count
    if (seen >= wanted) return value
  }
  return Number.NaN
}
