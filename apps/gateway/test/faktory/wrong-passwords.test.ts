import { expect, test } from 'vitest'
import { WrongPasswords } from '../../src/net/wrong-passwords.ts'
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

test('drops the oldest of many addresses, and no other', () => {
  const tries = new WrongPasswords(1, new DoorClock())
  const address = (n: number): string => `10.1.${n >> 8}.${n & 255}`
  for (let n = 0; n <= 10_000; n += 1) tries.add(address(n))
  expect([0, 1, 10_000].map((n) => tries.isSpent(address(n)))).toEqual([false, true, true])
})
