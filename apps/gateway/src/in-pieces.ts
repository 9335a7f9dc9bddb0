import { setImmediate as nextTurn } from 'node:timers/promises'

/** Rows per turn of the event loop, about a millisecond's work. */
const rowsPerTurn = 1_000
/** Rows in a turn where sorted rows are merged, which takes a comparison for each. */
const mergedPerTurn = 8_000

/** Calls `take` for each row, and lets other work pass in between: after `perTurn` rows. */
export async function inPieces<Row>(
  rows: readonly Row[],
  take: (row: Row) => void,
  perTurn: number = rowsPerTurn,
): Promise<void> {
  for (const [at, row] of rows.entries()) {
    take(row)
    if ((at + 1) % perTurn === 0) await nextTurn()
  }
}

/** Below zero: the one stands before the other. */
export type Compare<Row> = (one: Row, other: Row) => number

/** Sorts a copy, equal rows in the order that they have, and lets other work pass in between. */
export async function sortedInPieces<Row>(
  rows: readonly Row[],
  compare: Compare<Row>,
): Promise<readonly Row[]> {
  let runs: (readonly Row[])[] = []
  for (let at = 0; at < rows.length; at += rowsPerTurn) {
    runs.push(rows.slice(at, at + rowsPerTurn).sort(compare))
    await nextTurn()
  }
  while (runs.length > 1) {
    const merged: (readonly Row[])[] = []
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(await mergedInPieces(runs[at] ?? [], runs[at + 1] ?? [], compare))
    }
    runs = merged
  }
  return runs[0] ?? []
}

async function mergedInPieces<Row>(
  ones: readonly Row[],
  others: readonly Row[],
  compare: Compare<Row>,
): Promise<readonly Row[]> {
  const merged: Row[] = []
  let [one, other] = [0, 0]
  while (one < ones.length && other < others.length) {
    const [left, right] = [ones[one] as Row, others[other] as Row]
    if (compare(left, right) <= 0) {
      merged.push(left)
      one += 1
    } else {
      merged.push(right)
      other += 1
    }
    if (merged.length % mergedPerTurn === 0) await nextTurn()
  }
  return merged.concat(ones.slice(one), others.slice(other))
}
