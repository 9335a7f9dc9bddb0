import { Scheduler } from '@crossgear/core-scheduler'
import { ManualClock, MemoryStoreWorld, RecordingObserver } from '@crossgear/store-testkit'
import { describe, expect, test } from 'vitest'
import { Handles } from '../../src/gearman/handles.ts'

const { registry } = new Scheduler(
  new MemoryStoreWorld(new ManualClock()).join(),
  new ManualClock(),
  new RecordingObserver(),
)
registry.add('mail', 1)
registry.add('web', 2)
registry.add('mail@bulk', 1_000_000)

describe('handles', () => {
  test('name lane and id behind the prefix', () => {
    expect(new Handles('H:host', registry).format(1_000_000, 17)).toBe('H:host:lfls:17')
  })

  test('are read back, whatever node gave them out', () => {
    const handles = new Handles('H:here', registry)
    expect(handles.parse('H:here:1:17')).toEqual({ lane: 'mail', id: 17 })
    expect(handles.parse('H:there:80:lfls:9007199254740991')).toEqual({
      lane: 'mail@bulk',
      id: Number.MAX_SAFE_INTEGER,
    })
  })

  test('are at most 63 bytes', () => {
    const handles = new Handles('x'.repeat(100), registry)
    expect(handles.format(36 ** 6 - 1, Number.MAX_SAFE_INTEGER).length).toBeLessThanOrEqual(63)
  })

  test('hold no byte that would end a word or a line', () => {
    expect(new Handles('H:a b\tc\nd', registry).format(1, 1)).toBe('H:a-b-c-d:1:1')
  })

  test.each([
    '',
    ':',
    '::',
    'H:test:',
    'H:test:1:',
    'H:test:1:x',
    'H:test:zz:1',
    'H:test:1:-1',
    '1:1',
  ])('that no node gave out are recognized: %j', (handle) =>
    expect(new Handles('H:test', registry).parse(handle)).toBeUndefined(),
  )

  test('are given only to jobs whose lane has a number', () => {
    const handles = new Handles('H:test', registry)
    expect(handles.of({ lane: 'web', id: 3 })).toBe('H:test:2:3')
    expect(handles.of({ lane: 'new', id: 3 })).toBeUndefined()
  })
})
