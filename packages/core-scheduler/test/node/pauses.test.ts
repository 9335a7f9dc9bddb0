import { describe, expect, test } from 'vitest'
import { Pauses } from '../../src/node/pauses.ts'
import { LaneRegistry } from '../../src/model/lane-registry.ts'
import { LaneNames, type LaneName } from '../../src/model/lanes.ts'

class CountingNames extends LaneNames {
  parsed = 0

  override parse(lane: string): LaneName {
    this.parsed += 1
    return super.parse(lane)
  }
}

describe('a paused lane', () => {
  const names = new CountingNames()
  const registry = new LaneRegistry(names)
  for (let at = 0; at < 5_000; at += 1) registry.add(`f${at}`, at)
  registry.add('f1@bulk', 5_001)
  registry.add('f2@bulk', 5_002)
  const pauses = new Pauses(registry)
  const groups = ['default', 'bulk'].map((queue) => ({ queue, lanes: registry.ofQueue(queue) }))

  test('is left out of a request without checking the other lanes of its queues', () => {
    pauses.set(new Set(), new Set(['f1', 'f2@bulk', 'f7']))
    names.parsed = 0
    const request = pauses.unpaused('consumer', groups)
    expect([...request.paused].sort()).toEqual(['f1', 'f1@bulk', 'f2@bulk', 'f7'])
    expect(request.groups).toEqual(groups)
    expect(names.parsed).toBeLessThan(10)
  })

  test('is paused although it was created after the pause', () => {
    pauses.set(new Set(), new Set(['late']))
    expect([...pauses.unpaused('consumer', groups).paused]).toEqual(['late'])
    registry.add('late@bulk', 5_003)
    const [, bulk = { lanes: [] }] = groups
    expect([...pauses.unpaused('consumer', [bulk]).paused]).toEqual(['late@bulk'])
  })

  test('leaves a by-name worker its other functions, and a consumer its other queues', () => {
    pauses.set(new Set(['bulk']), new Set(['f1', 'f2@bulk']))
    const wanted = ['f1', 'f2', 'f3'].map((fn) => ({ lanes: registry.ofFunction(fn) }))
    const named = pauses.unpaused('named', wanted)
    expect(named.groups).toEqual([{ lanes: ['f2'] }, { lanes: ['f3'] }])
    const consumer = pauses.unpaused('consumer', groups)
    expect(consumer.groups.map(({ queue }) => queue)).toEqual(['default'])
    expect([...consumer.paused]).toEqual(['f1'])
  })
})
