import { expect, it } from 'vitest'
import { parseReply, RespError } from '../src/redis-server/resp-reply.ts'

const replies = [
  ['+OK\r\n', 'OK'],
  [':42\r\n', 42],
  ['$5\r\na\r\nbc\r\n', 'a\r\nbc'],
  ['$-1\r\n', null],
  ['*-1\r\n', null],
  ['*2\r\n$1\r\na\r\n*1\r\n:1\r\n', ['a', [1]]],
  ['-ERR no\r\n', new RespError('ERR no')],
] as const

it.each(replies)('%j is read, and is incomplete at every point before its end', (wire, value) => {
  const bytes = Buffer.from(wire)
  for (let length = 0; length < bytes.length; length++) {
    expect(parseReply(bytes.subarray(0, length), 0)).toBeUndefined()
  }
  expect(parseReply(Buffer.concat([bytes, bytes]), 0)).toEqual({ value, end: bytes.length })
})

it('what is no reply is refused', () => {
  expect(() => parseReply(Buffer.from('HTTP/1.1'), 0)).toThrow('not that of a Redis server')
})
