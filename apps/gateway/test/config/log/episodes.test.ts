import { expect, test } from 'vitest'
import { Episodes } from '../../../src/config/log/episodes.ts'

test('an episode begins once, however often and for however long it happens', () => {
  let nowMs = 0
  const episodes = new Episodes(() => nowMs)
  const begins = (atMs: number, kind = 'full'): boolean => {
    nowMs = atMs
    return episodes.begins(kind)
  }
  expect([begins(0), begins(1), begins(1, 'slow')]).toEqual([true, false, true])
  // Each is within a minute of the one before.
  expect([begins(50_000), begins(100_000), begins(150_000)]).toEqual([false, false, false])
  expect([begins(210_000), begins(210_001)]).toEqual([true, false])
})
