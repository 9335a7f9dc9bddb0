import { expect, test } from 'vitest'
import { DeadNodes } from '../../src/node/dead-nodes.ts'

/** Looks at one other node, a second apart; the number of looks until it is dead, or none. */
function looksUntilDead(heartbeats: readonly number[], gapsMs: readonly number[] = []): number {
  const nodes = new DeadNodes()
  let nowMs = 0
  for (const [at, heartbeat] of heartbeats.entries()) {
    if (nodes.look(new Map([['other', heartbeat]]), nowMs).length > 0) return at + 1
    nowMs += gapsMs[at] ?? 1_000
  }
  return 0
}

test('a node is dead when its heartbeat did not change in three checks after the first', () => {
  expect(looksUntilDead([5, 5, 5, 5])).toBe(4)
  expect(looksUntilDead([5, 5, 5, 6, 6, 6, 6])).toBe(7)
})

test('a node lives while its heartbeat changes, ahead or back', () => {
  expect(looksUntilDead([5, 5, 5, 4, 4, 4, 9_999, 9_999, 9_999, 1])).toBe(0)
})

test('checks in quick succession are not enough', () => {
  expect(looksUntilDead([5, 5, 5, 5, 5, 5], [10, 10, 10, 10, 10])).toBe(0)
})

test('few checks are not enough, however long they take', () => {
  expect(looksUntilDead([5, 5, 5], [2_400, 2_400])).toBe(0)
  expect(looksUntilDead([5, 5, 5, 5], [2_400, 2_400, 2_400])).toBe(4)
})

test('a node that did not check for a while starts over: the others may have been cut off, too', () => {
  expect(looksUntilDead([5, 5, 5, 5, 5], [1_000, 1_000, 10_000])).toBe(0)
  expect(looksUntilDead([5, 5, 5, 5, 5, 5, 5], [1_000, 1_000, 10_000])).toBe(7)
})

test('a dead node is listed until it is removed', () => {
  const nodes = new DeadNodes()
  const look = (heartbeats: readonly [string, number][], nowMs: number) =>
    nodes.look(new Map(heartbeats), nowMs)
  for (const nowMs of [0, 1_000, 2_000])
    expect(
      look(
        [
          ['a', 1],
          ['b', nowMs],
        ],
        nowMs,
      ),
    ).toEqual([])
  expect(
    look(
      [
        ['a', 1],
        ['b', 3_000],
      ],
      3_000,
    ),
  ).toEqual(['a'])
  expect(
    look(
      [
        ['a', 1],
        ['b', 4_000],
      ],
      4_000,
    ),
  ).toEqual(['a'])
  expect(look([['b', 5_000]], 5_000)).toEqual([])
})
