import { expect, test } from 'vitest'
import { BatchQueue, maxStepBytes, maxStepItems } from '../../src/node/steps.ts'

class Sent {
  arms = 0
  readonly batches: string[] = []
  readonly batch = new BatchQueue<number>(
    () => (this.arms += 1),
    (key, items) => void this.batches.push(`${key} ${items.join()}`),
  )
}

const upTo = (count: number, from = 0): string =>
  Array.from({ length: count }, (_none, at) => from + at).join()

test('added items leave per key, in order, when flushed', () => {
  const sent = new Sent()
  sent.batch.add('b', 1)
  sent.batch.add('a', 2)
  sent.batch.add('b', 3)
  expect(sent.batches).toEqual([])
  expect(sent.arms).toBeGreaterThan(0)
  sent.batch.flush()
  expect(sent.batches).toEqual(['b 1,3', 'a 2'])
  sent.batch.flush()
  expect(sent.batches).toHaveLength(2)
})

test('a batch holds no more than its items', () => {
  const sent = new Sent()
  for (let item = 0; item < maxStepItems * 2 + 1; item += 1) sent.batch.add('a', item)
  expect(sent.batches).toHaveLength(2)
  sent.batch.flush()
  expect(sent.batches).toEqual([
    `a ${upTo(maxStepItems)}`,
    `a ${upTo(maxStepItems, maxStepItems)}`,
    `a ${maxStepItems * 2}`,
  ])
})

test('a batch holds no more than its bytes, but one item of any size', () => {
  const sent = new Sent()
  sent.batch.add('a', 1, maxStepBytes - 1)
  sent.batch.add('a', 2, 1)
  sent.batch.add('a', 3, 1)
  sent.batch.add('a', 4, maxStepBytes * 2)
  sent.batch.flush()
  expect(sent.batches).toEqual(['a 1,2', 'a 3', 'a 4'])
})

test('items added during a flush belong to the next', () => {
  const batches: string[] = []
  const batch: BatchQueue<number> = new BatchQueue<number>(
    () => undefined,
    (_key, items) => {
      batches.push(items.join())
      if (items[0] === 1) batch.add('a', 2)
    },
  )
  batch.add('a', 1)
  batch.flush()
  expect(batches).toEqual(['1'])
  batch.flush()
  expect(batches).toEqual(['1', '2'])
})
