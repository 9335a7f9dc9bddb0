import { setImmediate as nextTurn } from 'node:timers/promises'

/** Rows per turn of the event loop, about a millisecond's work. */
const rowsPerTurn = 1_000

/** Calls `take` for each row, and lets other work pass in between. */
export async function inPieces<Row>(rows: readonly Row[], take: (row: Row) => void): Promise<void> {
  for (const [at, row] of rows.entries()) {
    take(row)
    if ((at + 1) % rowsPerTurn === 0) await nextTurn()
  }
}
