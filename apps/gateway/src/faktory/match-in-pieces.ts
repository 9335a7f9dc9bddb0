import { setImmediate as nextTurn } from 'node:timers/promises'
import { Glob } from './glob.ts'

/** Steps of matches, and characters of texts, in one turn of the event loop: about a millisecond's work. */
export const stepsPerTurn = 64 * 1024

/** Matches texts with a Redis glob, one after the other, and lets other work pass in between. */
export function matchInPieces<Item>(
  pattern: string,
  textOf: (item: Item) => string,
): (item: Item) => Promise<boolean> {
  const glob = new Glob(pattern)
  let left = stepsPerTurn
  return async (item) => {
    const text = textOf(item)
    const match = glob.match(text)
    left -= text.length
    for (;;) {
      const before = match.steps
      const result = match.run(Math.max(left, 1))
      left -= match.steps - before
      if (left <= 0) {
        await nextTurn()
        left = stepsPerTurn
      }
      if (result !== undefined) return result
    }
  }
}
