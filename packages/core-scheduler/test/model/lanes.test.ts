import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LaneRegistry } from '../../src/model/lane-registry.ts'
import { bandOf, isQueueName, LaneNames, type Level } from '../../src/index.ts'

const names = new LaneNames(new Map([['report', 'bulk']]))

describe('names of lanes', () => {
  test.each([
    ['mail', 'default', 'mail'],
    ['mail', 'bulk', 'mail@bulk'],
    ['report', 'bulk', 'report'],
    ['report', 'default', 'report@default'],
  ])('%s in queue %s is kept in lane %s, and read back', (fn, queue, lane) => {
    expect(names.lane(fn, queue)).toBe(lane)
    expect(names.parse(lane)).toEqual({ fn, queue })
    expect(names.canonical(`${fn}@${queue}`)).toBe(lane)
  })

  test.each([
    ['@bulk', '@bulk', 'default'],
    ['a@b c', 'a@b c', 'default'],
    ['a@', 'a@', 'default'],
    ['a@b@c', 'a@b', 'c'],
  ])('%s is function %s in queue %s', (lane, fn, queue) => {
    expect(names.parse(lane)).toEqual({ fn, queue })
  })

  test('every function and queue name can be read back from its lane', () => {
    const fn = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('mail@bulk', 'report', 'a@b'))
    const queue = fc.oneof(
      fc.constantFrom('default', 'bulk'),
      fc.stringMatching(/^[a-zA-Z0-9._-]+$/),
    )
    fc.assert(
      fc.property(fn, queue, (name, inQueue) => {
        const lane = names.lane(name, inQueue)
        expect(names.parse(lane)).toEqual({ fn: name, queue: inQueue })
        expect(names.canonical(lane)).toBe(lane)
      }),
    )
  })

  test('queue names are those of Faktory', () => {
    expect(['default', 'a-b_c.9', 'A'].every(isQueueName)).toBe(true)
    expect(['', 'a b', 'a:b', 'ä', 'a\n'].some(isQueueName)).toBe(false)
  })

  test('levels fall into three bands', () => {
    const bands = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((level) => bandOf(level as Level))
    expect(bands).toEqual([
      ...Array.from({ length: 3 }, () => 'low'),
      ...Array.from({ length: 3 }, () => 'normal'),
      ...Array.from({ length: 3 }, () => 'high'),
    ])
  })
})

describe('a registry of lanes', () => {
  function filled(): LaneRegistry {
    const registry = new LaneRegistry(names)
    registry.add('mail', 1)
    registry.add('mail@bulk', 2)
    registry.add('report', 7)
    return registry
  }

  test('finds lanes by function, by queue, by number and by name', () => {
    const registry = filled()
    expect(registry.ofFunction('mail')).toEqual(['mail', 'mail@bulk'])
    expect(registry.ofQueue('bulk')).toEqual(['mail@bulk', 'report'])
    expect(registry.ofQueue('none')).toEqual([])
    expect(registry.laneOf(7)).toBe('report')
    expect(registry.numberOf('report')).toBe(7)
    expect([...registry.queues()]).toEqual(['default', 'bulk'])
  })

  test('a known lane that is added again changes nothing', () => {
    const registry = filled()
    const { version, size } = registry
    expect(registry.add('mail', 1)).toBe(false)
    expect([registry.version, registry.size]).toEqual([version, size])
    expect(registry.add('sms', 8)).toBe(true)
    expect(registry.version).toBeGreaterThan(version)
  })

  test('a dropped lane is no longer found', () => {
    const registry = filled()
    const { version } = registry
    registry.remove('mail@bulk')
    registry.remove('unknown')
    expect(registry.ofFunction('mail')).toEqual(['mail'])
    expect(registry.ofQueue('bulk')).toEqual(['report'])
    expect([registry.laneOf(2), registry.numberOf('mail@bulk')]).toEqual([undefined, undefined])
    expect(registry.version).toBe(version + 1)
    expect([...registry.all()]).toEqual(['mail', 'report'])
  })
})
