import { describe, expect, test } from 'vitest'
import { FifoMap } from '../../src/node/fifo-map.ts'

describe('a map in the order of arrival', () => {
  test('returns the oldest entry, also after others left and came back', () => {
    const map = new FifoMap<string, number>()
    for (const [at, key] of ['a', 'b', 'c'].entries()) map.set(key, at)
    expect(map.oldest()).toEqual({ key: 'a', value: 0 })
    expect(map.delete('a')).toBe(true)
    expect(map.delete('a')).toBe(false)
    map.set('a', 3)
    expect(map.oldest()).toEqual({ key: 'b', value: 1 })
    map.delete('c')
    map.set('b', 4)
    expect(map.oldest()).toEqual({ key: 'a', value: 3 })
    map.delete('a')
    expect(map.oldest()).toEqual({ key: 'b', value: 4 })
    map.delete('b')
    expect(map.oldest()).toBeUndefined()
    expect(map.size).toBe(0)
  })

  test('keeps the order of thousands that take turns', () => {
    const map = new FifoMap<number, number>()
    for (let key = 0; key < 3_000; key += 1) map.set(key, key)
    for (let turn = 0; turn < 10_000; turn += 1) {
      const key = map.oldest()?.key ?? NaN
      expect(key).toBe(turn % 3_000)
      map.delete(key)
      map.set(key, turn)
    }
    expect(map.size).toBe(3_000)
  })
})
