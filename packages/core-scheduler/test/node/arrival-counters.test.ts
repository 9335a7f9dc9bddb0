import { expect, test } from 'vitest'
import { ArrivalCounters } from '../../src/node/arrival-counters.ts'
import { namedSubscription } from '../../src/model/subscription.ts'
import { LaneRegistry, maxLanes } from '../../src/model/lane-registry.ts'
import { LaneNames } from '../../src/model/lanes.ts'

const registry = new LaneRegistry(new LaneNames())
const subscription = namedSubscription([{ fn: 'mail' }], registry)

test('figures of a forgotten key never come again', () => {
  const counters = new ArrivalCounters()
  const seen = new Set<number>()
  for (let life = 0; life < 5; life += 1) {
    for (let job = 0; job < 3; job += 1) {
      counters.add(['fmail'], job % 2 === 0)
      expect(seen.has(counters.of(subscription))).toBe(false)
      seen.add(counters.of(subscription))
    }
    const byOthers = counters.byOthers(subscription)
    counters.forget(['fmail'])
    expect(counters.byOthers(subscription)).toBeGreaterThanOrEqual(byOthers)
  }
})

test('of more keys than lanes can have all are forgotten, and nothing that came is missed', () => {
  const counters = new ArrivalCounters()
  counters.add(['fmail'], false)
  const before = counters.of(subscription)
  counters.add(
    Array.from({ length: 4 * maxLanes }, (_none, at) => `f${at}`),
    false,
  )
  expect(counters.size).toBeLessThanOrEqual(4 * maxLanes)
  counters.add(['fmail'], false)
  expect(counters.of(subscription)).toBeGreaterThan(before)
})
