import { expect, test } from 'vitest'
import { AdminAccess } from '../../../src/doors/net/networks.ts'

test.each(['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])(
  'this machine may change settings: %s',
  (address) => expect(new AdminAccess().allows(address)).toBe(true),
)

test.each(['10.0.0.1', '192.168.1.1', '2001:db8::1', '-', ''])('others may not: %j', (address) => {
  expect(new AdminAccess().allows(address)).toBe(false)
})

test('an address or a network that is listed may', () => {
  const access = new AdminAccess(['10.0.0.0/8', '192.168.1.5', '2001:db8::/32'])
  expect(access.allows('10.200.3.4')).toBe(true)
  expect(access.allows('::ffff:10.200.3.4')).toBe(true)
  expect(access.allows('192.168.1.5')).toBe(true)
  expect(access.allows('192.168.1.6')).toBe(false)
  expect(access.allows('2001:db8::7')).toBe(true)
})

test.each(['here', '10.0.0.0/8/8/x', '10.0.0.0/99', ''])('%j is no network', (network) => {
  expect(() => new AdminAccess([network])).toThrow(Error)
})
