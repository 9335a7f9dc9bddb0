import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { TurnQueue } from '../../src/web/turn-queue.ts'

test('a turn of the event loop begins a bounded number of works, in their order', async () => {
  const turns = new TurnQueue(2)
  const begun: number[] = []
  const add = (from: number, to: number): void => {
    for (let at = from; at <= to; at += 1) turns.run(() => begun.push(at))
  }
  add(1, 5)
  expect(begun).toEqual([1, 2])
  await nextTurn()
  expect(begun).toEqual([1, 2, 3, 4])
  add(6, 7)
  expect(begun).toEqual([1, 2, 3, 4])
  await nextTurn()
  expect(begun).toEqual([1, 2, 3, 4, 5, 6])
  await nextTurn()
  expect(begun).toEqual([1, 2, 3, 4, 5, 6, 7])
  for (let turn = 0; turn < 2; turn += 1) await nextTurn()
  add(8, 9)
  expect(begun.slice(-2)).toEqual([8, 9])
})
