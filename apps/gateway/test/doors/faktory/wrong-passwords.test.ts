import { expect, test } from 'vitest'
import { WrongPasswords } from '../../../src/doors/net/wrong-passwords.ts'
import { DoorClock } from './support/door-clock.ts'

test.each([
  ['10.0.0.1', '10.0.0.1', true],
  ['10.0.0.1', '::ffff:10.0.0.1', true],
  ['10.0.0.1', '10.0.0.2', false],
  ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', true],
  ['2001:db8::1', '2001:db8:0:0:1::', true],
  ['2001:db8:0:1::1', '2001:db8:0:2::1', false],
  ['::1', '::2', true],
])('attempts from %s count for %s: %s', (one, other, isSame) => {
  const tries = new WrongPasswords(1, new DoorClock())
  tries.add(one)
  expect([tries.isSpent(one), tries.isSpent(other)]).toEqual([true, isSame])
})

test('a right password is let in at a slow rate, and no more are checked, once the tries are spent', () => {
  const clock = new DoorClock()
  const tries = new WrongPasswords(10, clock)
  const take = (wrong: boolean) => {
    const taken = tries.take('10.0.0.1')
    if (taken && wrong) tries.add('10.0.0.1')
    return taken
  }
  for (let n = 0; n < 10; n += 1) expect(take(true)).toBe('free')
  expect([take(true), take(true), tries.isRefused('10.0.0.1')]).toEqual([
    undefined,
    undefined,
    true,
  ])
  clock.advance(6_000)
  expect(tries.isRefused('10.0.0.1')).toBe(false)
  expect([take(true), take(false)]).toEqual(['slow', undefined])
  clock.advance(5_999)
  expect(take(false)).toBeUndefined()
  clock.advance(1)
  expect(take(false)).toBe('slow')
  expect(tries.take('10.0.0.2')).toBe('free')
})

test('drops the oldest of many addresses, and no other', () => {
  const tries = new WrongPasswords(1, new DoorClock())
  const address = (n: number): string => `10.1.${n >> 8}.${n & 255}`
  for (let n = 0; n <= 10_000; n += 1) tries.add(address(n))
  expect([0, 1, 10_000].map((n) => tries.isSpent(address(n)))).toEqual([false, true, true])
})
