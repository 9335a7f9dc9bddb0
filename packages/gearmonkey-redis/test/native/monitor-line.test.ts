import { expect, test } from 'vitest'
import { parseLine } from '../../src/conformance/monitor.ts'

test('a line of MONITOR gives every argument back, whatever its bytes', () => {
  const line = String.raw`+1700000000.5 [3 127.0.0.1:50000] "SET" "a\" \"b" "\x00\xff\\\n\r\t\a\b" ""`
  expect(parseLine(line)).toEqual({
    time: 1_700_000_000.5,
    source: '127.0.0.1:50000',
    words: ['SET', 'a" "b', '\x00\xff\\\n\r\t\x07\b', ''],
  })
})

test.each([
  ['+1.0 [0 lua] "PING"', 'lua'],
  ['+1.0 [0 unix:/tmp/redis.sock] "PING"', 'unix:/tmp/redis.sock'],
  ['+1.0 [0 [::1]:5000] "PING"', '[::1]:5000'],
  ['+OK', undefined],
  ['-ERR', undefined],
])('%s comes from %s', (line, source) => {
  expect(parseLine(line)?.source).toBe(source)
})
