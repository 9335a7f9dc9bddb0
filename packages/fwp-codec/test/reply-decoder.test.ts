import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bulk, error, nullBulk, okReply, type Reply, ReplyDecoder, simple } from '../src/index.ts'
import type { ReplyDecoderOptions } from '../src/reply-decoder.ts'

function drain(decoder: ReplyDecoder): Reply[] {
  const replies: Reply[] = []
  for (let reply = decoder.next(); reply; reply = decoder.next()) replies.push(reply)
  return replies
}

function decode(chunks: readonly Buffer[], options?: ReplyDecoderOptions): Reply[] {
  const decoder = new ReplyDecoder(options)
  return chunks.flatMap((chunk) => {
    decoder.push(chunk)
    return drain(decoder)
  })
}

/** Bytes that a Faktory server has sent, and their replies. */
const golden: readonly (readonly [string, Reply])[] = [
  ['+HI {"v":2,"i":1735,"s":"abc"}\r\n', { line: '+HI {"v":2,"i":1735,"s":"abc"}' }],
  ['+OK\r\n', { line: '+OK' }],
  ['+{"state":"quiet"}\r\n', { line: '+{"state":"quiet"}' }],
  ['-ERR Job not found x\r\n', { line: '-ERR Job not found x' }],
  ['-NOTUNIQUE Job not unique\r\n', { line: '-NOTUNIQUE Job not unique' }],
  ['$-1\r\n', { line: '$-1', body: null }],
  ['$0\r\n\r\n', { line: '$0', body: Buffer.alloc(0) }],
  ['$12\r\n{"jid":"é"}\r\n', { line: '$12', body: Buffer.from('{"jid":"é"}') }],
  ['$6\r\na\r\n+OK\r\n', { line: '$6', body: Buffer.from('a\r\n+OK') }],
]

describe('ReplyDecoder', () => {
  test.each(golden)('%j', (wire, reply) => {
    expect(decode([Buffer.from(wire)])).toEqual([reply])
  })

  test('a stream means the same wherever it is split', () => {
    const body = Buffer.from([0xff, 0x00, 0x0d, 0x0a, 0xc3])
    const stream = Buffer.concat([
      okReply,
      bulk(body),
      nullBulk,
      error('no'),
      bulk(''),
      simple('x'),
    ])
    const whole = decode([stream])
    expect(whole).toEqual([
      { line: '+OK' },
      { line: '$5', body },
      { line: '$-1', body: null },
      { line: '-ERR no' },
      { line: '$0', body: Buffer.alloc(0) },
      { line: '+x' },
    ])
    for (let first = 0; first <= stream.length; first += 1) {
      for (let second = first; second <= stream.length; second += 1) {
        const cuts = [stream.subarray(0, first), stream.subarray(first, second)]
        expect(decode([...cuts, stream.subarray(second)])).toEqual(whole)
      }
    }
    expect(decode(Array.from(stream, (byte) => Buffer.of(byte)))).toEqual(whole)
  })

  test('bodies stay the bytes that they were, however much comes after them', () => {
    const bodies = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 8 })
    const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 })
    fc.assert(
      fc.property(bodies, sizes, fc.boolean(), (all, chunkSizes, isLate) => {
        const stream = Buffer.concat(all.map((body) => bulk(Buffer.from(body))))
        const decoder = new ReplyDecoder()
        const seen: Reply[] = []
        for (let at = 0, turn = 0; at < stream.length; turn += 1) {
          const size = chunkSizes[turn % chunkSizes.length]!
          decoder.push(stream.subarray(at, at + size))
          if (!isLate) seen.push(...drain(decoder))
          at += size
        }
        seen.push(...drain(decoder))
        expect(seen.map(({ body }) => body)).toEqual(all.map((body) => Buffer.from(body)))
      }),
    )
  })

  test('bodies may be passed over: the replies are the same without them', () => {
    const stream = Buffer.concat([bulk('abc\r\n'), okReply, bulk(''), nullBulk, bulk('x'), okReply])
    const lines = decode([stream]).map(({ line }) => line)
    for (let cut = 0; cut <= stream.length; cut += 1) {
      const parts = [stream.subarray(0, cut), stream.subarray(cut)]
      const replies = decode(parts, { keepsBodies: false })
      expect(replies.map(({ line }) => line)).toEqual(lines)
      expect(replies.every(({ body }) => !body || body.length === 0)).toBe(true)
    }
  })

  test.each([
    ['a line without a sign', 'hello\r\n', 'INVALID_REPLY'],
    ['an empty line', '\r\n', 'INVALID_REPLY'],
    ['a length below none', '$-2\r\n', 'INVALID_REPLY'],
    ['a length that is none', '$1e3\r\n', 'INVALID_REPLY'],
    ['a length without digits', '$\r\n', 'INVALID_REPLY'],
    ['a body beyond the longest', '$101\r\n', 'INVALID_REPLY'],
    ['a body that is longer than it says', '$1\r\nab\r\n', 'INVALID_REPLY'],
    ['a body without its end', '$1\r\na\n\n', 'INVALID_REPLY'],
    ['a line beyond the longest', `+${'x'.repeat(50)}\r\n`, 'LINE_TOO_LONG'],
    ['a line beyond the longest, without an end', `+${'x'.repeat(51)}`, 'LINE_TOO_LONG'],
  ])('%s fails it for good, wherever it is split', (_what, wire, code) => {
    const stream = Buffer.concat([okReply, Buffer.from(wire)])
    for (let cut = 0; cut <= stream.length; cut += 1) {
      const decoder = new ReplyDecoder({ maxLineBytes: 50, maxBodyBytes: 100 })
      const read = (): void => {
        for (const part of [stream.subarray(0, cut), stream.subarray(cut)]) {
          decoder.push(part)
          drain(decoder)
        }
      }
      const failure = expect.objectContaining({ code })
      expect(read).toThrow(failure)
      expect(() => decoder.next()).toThrow(failure)
      expect(() => decoder.push(okReply)).toThrow(failure)
    }
  })

  test('a line and a body as long as they may be', () => {
    const options = { maxLineBytes: 50, maxBodyBytes: 100 }
    const line = `+${'x'.repeat(49)}`
    const body = Buffer.alloc(100, 1)
    const stream = Buffer.concat([Buffer.from(`${line}\r\n`), bulk(body)])
    for (let cut = 0; cut <= stream.length; cut += 1) {
      const parts = [stream.subarray(0, cut), stream.subarray(cut)]
      expect(decode(parts, options)).toEqual([{ line }, { line: '$100', body }])
    }
  })
})
