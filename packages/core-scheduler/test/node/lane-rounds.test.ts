import { expect, test } from 'vitest'
import { LaneRounds } from '../../src/node/lane-rounds.ts'
import { LaneRegistry } from '../../src/model/lane-registry.ts'
import { LaneNames } from '../../src/model/lanes.ts'

function registryOf(count: number): LaneRegistry {
  const registry = new LaneRegistry(new LaneNames())
  for (let at = 1; at <= count; at += 1) registry.add(`f${at}`, at)
  return registry
}

test('all lanes have their turn at once if they are few, including new ones', () => {
  const registry = registryOf(3)
  const rounds = new LaneRounds(registry, 10, 8)
  expect(rounds.next()).toEqual(['f1', 'f2', 'f3'])
  registry.add('f4', 4)
  expect(rounds.next()).toEqual(['f1', 'f2', 'f3', 'f4'])
})

test('of many lanes each has one turn in a round', () => {
  const rounds = new LaneRounds(registryOf(801), 10, 8)
  const turns = Array.from({ length: 8 }, () => rounds.next())
  expect(Math.max(...turns.map(({ length }) => length))).toBe(101)
  expect(new Set(turns.flat()).size).toBe(801)
  expect(turns.flat().length).toBe(801)
})
