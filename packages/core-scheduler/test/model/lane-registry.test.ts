import { describe, expect, test } from 'vitest'
import { LaneRegistry } from '../../src/model/lane-registry.ts'
import { LaneNames } from '../../src/model/lanes.ts'

describe('the registry of lanes', () => {
  test('lists the lanes of a queue and a function in the order in which they came, after others left', () => {
    const registry = new LaneRegistry(new LaneNames())
    for (const [at, lane] of ['mail', 'sms', 'mail@bulk', 'fax'].entries()) registry.add(lane, at)
    expect(registry.ofQueue('default')).toEqual(['mail', 'sms', 'fax'])
    registry.remove('sms')
    expect(registry.ofQueue('default')).toEqual(['mail', 'fax'])
    registry.add('sms', 7)
    expect(registry.ofQueue('default')).toEqual(['mail', 'fax', 'sms'])
    expect(registry.ofFunction('mail')).toEqual(['mail', 'mail@bulk'])
    registry.remove('mail@bulk')
    expect(registry.ofQueue('bulk')).toEqual([])
    expect([...registry.queues()]).toEqual(['default'])
  })
})
