import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bulk, error, nullBulk, okReply, simple } from '../src/index.ts'

describe('replies', () => {
  test.each([
    [okReply, '+OK\r\n'],
    [nullBulk, '$-1\r\n'],
    [simple('PONG'), '+PONG\r\n'],
    [error('Job not found x'), '-ERR Job not found x\r\n'],
    [bulk(''), '$0\r\n\r\n'],
    [bulk('{"state":"quiet"}'), '$17\r\n{"state":"quiet"}\r\n'],
    [bulk('é😀'), '$6\r\né😀\r\n'],
    [bulk(Buffer.from('a\r\nb')), '$4\r\na\r\nb\r\n'],
  ])('%#: the bytes on the wire', (reply, text) => {
    expect(reply.toString('utf8')).toBe(text)
  })

  test('null is the prebuilt null bulk string', () => {
    expect(bulk(null)).toBe(nullBulk)
  })

  test('no text can break out of its line', () => {
    expect(error('a\r\nb\nc\rd').toString()).toBe('-ERR a b c d\r\n')
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('\r', '\n', 'a', 'é') }), (text) => {
        for (const reply of [simple(text), error(text)]) {
          expect(reply.toString().slice(0, -2)).not.toMatch(/[\r\n]/)
          expect(reply.toString()).toMatch(/\r\n$/)
        }
      }),
    )
  })

  test('a bulk string counts its bytes, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const body = Buffer.from(text)
        const expected = Buffer.concat([
          Buffer.from(`$${body.length}\r\n`),
          body,
          Buffer.from('\r\n'),
        ])
        expect(bulk(text)).toEqual(expected)
        expect(bulk(body)).toEqual(expected)
      }),
    )
  })
})
