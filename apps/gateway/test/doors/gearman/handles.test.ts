import fc from 'fast-check'
import { LaneNames, LaneRegistry } from '@crossgear/core-scheduler'
import { describe, expect, test } from 'vitest'
import { Handles, handlePrefix } from '../../../src/doors/gearman/handles.ts'

const registry = new LaneRegistry(new LaneNames())
registry.add('mail', 1)
registry.add('web', 2)
registry.add('mail@bulk', 1_000_000)

const numbers = fc.integer({ min: 1, max: 36 ** 6 - 1 })
/** A native client may give the id 0. */
const ids = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })

/** As former versions gave them out. */
const former = (prefix: string, laneNumber: number, id: number): string =>
  `${prefix}:${laneNumber.toString(36)}:${id}`

/** Knows a lane of every number, which is its name. */
class AnyLane extends LaneRegistry {
  override refOf(number: number, id: number) {
    return { lane: String(number), id }
  }
}
const anyLane = new AnyLane(new LaneNames())

describe('handles', () => {
  test('name lane and id behind the prefix, as one decimal number', () => {
    const handle = new Handles('H:host', registry).format(1_000_000, 17)
    expect(handle).toBe('H:host:10000000000000000000017')
  })

  test('are read back, whatever node gave them out', () => {
    const handles = new Handles('H:here', registry)
    expect(handles.parse('H:here:10000000000000017')).toEqual({ lane: 'mail', id: 17 })
    expect(handles.parse('H:there:80:10000009007199254740991')).toEqual({
      lane: 'mail@bulk',
      id: Number.MAX_SAFE_INTEGER,
    })
  })

  test('of former versions are read, whatever node gave them out', () => {
    const handles = new Handles('H:here', registry)
    expect(handles.parse('H:vm:lfls:23068673')).toEqual({ lane: 'mail@bulk', id: 23_068_673 })
    expect(handles.parse('H:there:80:1:9007199254740991')).toEqual({
      lane: 'mail',
      id: Number.MAX_SAFE_INTEGER,
    })
  })

  test('end in decimal digits that no other job has, under any prefix and of any version', () => {
    const prefix = fc.string({ minLength: 1, maxLength: 60, unit: 'binary-ascii' })
    const handles = new Handles('H:here', anyLane)
    fc.assert(
      fc.property(prefix, numbers, ids, (text, number, id) => {
        const handle = new Handles(text, anyLane).format(number, id)
        expect(handle).toMatch(/^[!-~]+:[1-9]\d+$/)
        expect(handle.length).toBeLessThanOrEqual(63)
        expect(handles.parse(handle)).toEqual({ lane: String(number), id })
        const old = former(handlePrefix(text), number, id)
        expect(handles.parse(old)).toEqual({ lane: String(number), id })
      }),
    )
  })

  test('take room from a long prefix, not from the number', () => {
    const handle = new Handles('x'.repeat(100), registry).format(36 ** 6 - 1, 1)
    expect(handle).toBe(`${'x'.repeat(36)}:21767823350000000000000001`)
  })

  test('hold no byte that would end a word or a line', () => {
    expect(new Handles('H:a b\tc\nd', registry).format(1, 1)).toBe('H:a-b-c-d:10000000000000001')
  })

  test.each([
    '',
    ':',
    '::',
    ':10000000000000001',
    '10000000000000001',
    'H:test:',
    'H:test:1',
    'H:test:1:',
    'H:test:1:x',
    'H:test:zz:1',
    'H:test:1:-1',
    'H:test:1:01',
    'H:test:1:00',
    'H:test:01:1',
    'H:test:1:9007199254740992',
    'H:test:1:9999999999999999',
    'H:test:00000000000000000',
    'H:test:19007199254740992',
    'H:test:010000000000000001',
    'H:test:+10000000000000001',
    'H:test:1e16',
    'H:test:NaN:1',
    'H:test:__proto__:1',
    'H:test:10000000000000001 ',
    'H:test:10000000000000001\0',
    `H:test:${'9'.repeat(64)}`,
    `H:test:1${'0'.repeat(40)}1`,
    `${'H'.repeat(64)}:10000000000000001`,
    '1:1',
  ])('that no node gave out are recognized: %j', (handle) =>
    expect(new Handles('H:test', registry).parse(handle)).toBeUndefined(),
  )

  test('are given only to jobs whose lane has a number', () => {
    const handles = new Handles('H:test', registry)
    expect(handles.of({ lane: 'web', id: 3 })).toBe('H:test:20000000000000003')
    expect(handles.of({ lane: 'new', id: 3 })).toBeUndefined()
  })
})
