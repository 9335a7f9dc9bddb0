import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'vitest'

/** Does work that must leave the event loop so many turns at least. */
export async function inTurns<Made>(min: number, work: () => Promise<Made>): Promise<Made> {
  const state = { isOver: false }
  const made = work().finally(() => (state.isOver = true))
  let turns = 0
  for (; !state.isOver; turns += 1) await nextTurn()
  expect(turns).toBeGreaterThanOrEqual(min)
  return made
}
