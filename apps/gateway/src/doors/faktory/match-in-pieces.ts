import { setImmediate as nextTurn } from 'node:timers/promises'
import { Glob } from './glob.ts'

/** Steps of matches, and characters of texts, in one turn of the event loop: about a millisecond's work. */
export const stepsPerTurn = 64 * 1024

/** The turns of matches that run one after the other. */
export class MatchTurns {
  /** Steps of this turn. */
  left = stepsPerTurn

  /** Ends the turn once its steps are spent. */
  async pass(): Promise<void> {
    if (this.left > 0) return
    await nextTurn()
    this.left = stepsPerTurn
  }
}

/** Matches texts with a Redis glob, one after the other, and lets other work pass in between. */
export function matchInPieces<Item>(
  pattern: string,
  textOf: (item: Item) => string,
  turns: MatchTurns = new MatchTurns(),
): (item: Item) => Promise<boolean> {
  const glob = new Glob(pattern)
  return async (item) => {
    const text = textOf(item)
    const match = glob.match(text)
    turns.left -= text.length
    for (;;) {
      const before = match.steps
      const result = match.run(Math.max(turns.left, 1))
      turns.left -= match.steps - before
      await turns.pass()
      if (result !== undefined) return result
    }
  }
}
