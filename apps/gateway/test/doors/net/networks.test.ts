import { expect, test } from 'vitest'
import { readNetworks } from '../../../src/doors/net/networks.ts'

test('a list of addresses and networks is read, with or without blanks', () => {
  const list = ['10.0.0.0/8', '192.168.1.5', '2001:db8::/32']
  expect(readNetworks(list.join(','))).toEqual(list)
  expect(readNetworks(list.join(' , '))).toEqual(list)
})

test.each(['', 'here', '10.0.0.1,', '10.0.0.0/33', '::/129', '10.0.0.0/8/8'])(
  '%j is no such list',
  (list) => expect(readNetworks(list)).toBeUndefined(),
)
