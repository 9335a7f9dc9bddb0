import { beforeEach, expect, test } from 'vitest'
import { LaneQuota } from '../../../src/doors/net/lane-quota.ts'

const max = 3

let registered: Set<string>
let drop: (lane: string) => void
let nowMs: number
let quota: LaneQuota

beforeEach(() => {
  registered = new Set()
  nowMs = 0
  const scheduler = {
    isNewLane: (lane: string) => !registered.has(lane),
    onLaneDropped: (listener: (lane: string) => void) => {
      drop = (lane) => {
        registered.delete(lane)
        listener(lane)
      }
      return () => undefined
    },
  }
  quota = new LaneQuota({ scheduler, nowMs: () => nowMs, max })
})

/** Names a lane, which is registered if that is admitted. */
function name(lane: string, address = '10.0.0.1'): boolean {
  const isAdmitted = quota.admits(lane, address)
  if (isAdmitted) registered.add(lane)
  return isAdmitted
}

test('an address brings so many lanes into being, others as many, and known ones are free', () => {
  expect(['a', 'b', 'c', 'd'].map((lane) => name(lane))).toEqual([true, true, true, false])
  expect(name('a')).toBe(true)
  expect(name('d', '10.0.0.2')).toBe(true)
  expect(name('d')).toBe(true)
  expect(name('e', '::ffff:10.0.0.1')).toBe(false)
})

test('a lane that is gone makes room for another, whoever named it again since', () => {
  for (const lane of ['a', 'b', 'c']) name(lane)
  expect(name('d')).toBe(false)
  drop('b')
  expect(name('b', '10.0.0.2')).toBe(true)
  expect(name('d')).toBe(true)
  drop('b')
  expect(name('e')).toBe(false)
})

test('lanes that the store refused are not counted, after a second', () => {
  for (const lane of ['a', 'b', 'c']) expect(quota.admits(lane, '10.0.0.1')).toBe(true)
  expect(name('d')).toBe(true)
  for (const lane of ['e', 'f', 'g']) quota.admits(lane, '10.0.0.1')
  expect(name('h')).toBe(false)
  nowMs += 1_000
  expect(name('h')).toBe(true)
})
