import { expect, test } from 'vitest'
import { maxReadBytes, readPayload, valueAt } from '../../src/bridge/payload-path.ts'

const at = (payload: string | Uint8Array, path: string): unknown =>
  valueAt(readPayload(Buffer.from(payload)), path.split('.'))

test.each<readonly [string, string, unknown]>([
  ['{"customer":{"plan":"gold"}}', 'customer.plan', 'gold'],
  [' \n{"a":1}', 'a', 1],
  ['[{"a":[true,false]}]', '0.a.1', false],
  ['{"a":"text"}', 'a.length', undefined],
  ['{"a":"text"}', 'a.0', undefined],
  ['[1,2]', 'length', 2],
  ['{"a":1}', '__proto__', undefined],
  ['{"a":1}', 'constructor.name', undefined],
  ['{"__proto__":{"a":1}}', '__proto__.a', 1],
  ['{"a":null}', 'a.b', undefined],
  ['{"a":1', 'a', undefined],
  ['"a"', 'length', undefined],
  ['', 'a', undefined],
  ['7', 'a', undefined],
])('in %j the path %j leads to %j', (payload, path, value) => {
  expect(at(payload, path)).toEqual(value)
})

test('bytes that are no text lead nowhere', () => {
  expect(at(Buffer.from([0x7b, 0xff, 0xfe]), 'a')).toBeUndefined()
})

test('a payload is read up to its bound', () => {
  const json = (bytes: number): string => {
    const begin = '{"a":1,"x":"'
    return `${begin}${'x'.repeat(bytes - begin.length - 2)}"}`
  }
  expect(at(json(maxReadBytes), 'a')).toBe(1)
  expect(at(json(maxReadBytes + 1), 'a')).toBeUndefined()
})
