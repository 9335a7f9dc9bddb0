import { expect, test } from 'vitest'
import { isLeaking } from '../world/memory-watch.ts'

const mib = 1024 * 1024
const life = (bytesAt: (second: number) => number): boolean =>
  isLeaking(
    Array.from({ length: 300 }, (_, second) => ({ atMs: second * 1000, bytes: bytesAt(second) })),
  )

test('memory that grows all the time is a leak', () => {
  expect(life((second) => (100 + second) * mib)).toBe(true)
})

test('memory that goes up and down, or grows at the start, is no leak', () => {
  expect(life((second) => (second % 20 < 10 ? 100 : 400) * mib)).toBe(false)
  expect(life((second) => Math.min(400, 100 + 10 * second) * mib)).toBe(false)
})

test('a short run proves nothing', () => {
  const samples = [0, 50_000, 100_000].map((atMs) => ({ atMs, bytes: (1 + atMs) * mib }))
  expect(isLeaking(samples)).toBe(false)
})
