import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Decoder, defaultMaxLineBytes, GearmanCodecError } from '../src/index.ts'
import { cut, decode, drain, failure, plain, raw } from './helpers.ts'

/** A header alone. */
function header(code: number, length: number): Buffer {
  const bytes = raw('\0REQ', code)
  bytes.writeUInt32BE(length, 8)
  return bytes
}

const bad: readonly [string, Buffer][] = [
  ['BAD_MAGIC', raw('\0XXX', 1, 'f')],
  ['BAD_MAGIC', raw('\0REX', 1, 'f')],
  ['UNKNOWN_COMMAND', raw('\0REQ', 0)],
  ['UNKNOWN_COMMAND', raw('\0REQ', 43)],
  ['UNKNOWN_COMMAND', raw('\0RES', 43)],
  ['UNKNOWN_COMMAND', raw('\0REQ', 0x8000_0000)],
  ['UNKNOWN_COMMAND', raw('\0REQ', 0xffff_ffff)],
  ['PACKET_TOO_LARGE', header(16, 64 * 1024 * 1024 + 1)],
  ['PACKET_TOO_LARGE', header(16, 0xffff_ffff)],
  ['PACKET_TOO_LARGE', header(9, 0xffff_ffff)],
  ['MALFORMED_ARGUMENTS', raw('\0REQ', 7, 'f')],
  ['LINE_TOO_LONG', Buffer.alloc(defaultMaxLineBytes, 'x')],
]

describe('bad input', () => {
  test.each(bad)('fails with %s wherever it is cut', (code, bytes) => {
    for (let at = 0; at <= Math.min(bytes.length, 20); at++) {
      expect(failure(() => decode(cut(bytes, [at]))).code).toBe(code)
    }
  })

  test.each(bad)('(%s) leaves the decoder failed for good', (_, bytes) => {
    const decoder = new Decoder()
    decoder.push(bytes)
    const first = failure(() => decoder.next())
    decoder.push(raw('\0REQ', 9))
    expect(failure(() => decoder.next())).toBe(first)
  })

  test('does not affect the valid messages before it', () => {
    const decoder = new Decoder()
    decoder.push(Buffer.concat([raw('\0REQ', 9), Buffer.from('status\n'), raw('\0REQ', 0)]))
    expect([decoder.next(), decoder.next()]).toMatchObject([
      { name: 'GRAB_JOB' },
      { line: 'status' },
    ])
    expect(failure(() => decoder.next()).code).toBe('UNKNOWN_COMMAND')
  })

  test('of any kind ends in messages or a coded error, the same in any chunks', () => {
    const outcome = (chunks: readonly Buffer[]): unknown => {
      const decoder = new Decoder({ maxPacketBytes: 100, maxLineBytes: 50 })
      const seen: unknown[] = []
      try {
        for (const chunk of chunks) {
          decoder.push(chunk)
          for (let m = decoder.next(); m !== undefined; m = decoder.next()) seen.push(plain(m))
        }
      } catch (error) {
        expect(error).toBeInstanceOf(GearmanCodecError)
        seen.push((error as GearmanCodecError).code)
      }
      return seen
    }
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
      fc
        .tuple(
          fc.constantFrom('\0REQ', '\0RES', '\0RE'),
          fc.nat(50),
          fc.uint8Array({ maxLength: 120 }),
        )
        .map(([magic, code, body]) => raw(magic, code, Buffer.from(body))),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), fc.array(fc.nat()), (pieces, places) => {
        const bytes = Buffer.concat(pieces)
        const chunks = cut(
          bytes,
          places.map((place) => place % (bytes.length + 1)),
        )
        expect(outcome(chunks)).toEqual(outcome([bytes]))
      }),
      { numRuns: 1000 },
    )
  })
})

describe('limits', () => {
  test('let a packet of exactly the largest size pass, and no larger one', () => {
    const options = { maxPacketBytes: 10 }
    expect(decode([raw('\0REQ', 16, '0123456789')], options).map(plain)).toEqual([
      ['REQ', 'ECHO_REQ', '0123456789'],
    ])
    expect(failure(() => decode([header(16, 11)], options)).code).toBe('PACKET_TOO_LARGE')
  })

  test('let a line of exactly the largest size pass, its line end counted', () => {
    const options = { maxLineBytes: 10 }
    for (const line of ['123456789\n', '12345678\r\n']) {
      for (let at = 0; at <= 10; at++) {
        expect(decode(cut(Buffer.from(line), [at]), options)).toHaveLength(1)
      }
    }
    expect(failure(() => decode([Buffer.from('1234567890\n')], options)).code).toBe('LINE_TOO_LONG')
    expect(failure(() => decode([Buffer.from('1234567890')], options)).code).toBe('LINE_TOO_LONG')
  })

  test('stop an endless line before it is stored', () => {
    const decoder = new Decoder()
    const drop = Buffer.from('x')
    let accepted = 0
    const error = failure(() => {
      for (;;) {
        decoder.push(drop)
        decoder.next()
        accepted++
      }
    })
    expect(error.code).toBe('LINE_TOO_LONG')
    expect(accepted).toBe(defaultMaxLineBytes - 1)
  })

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('cannot be %d', (limit) => {
    expect(failure(() => new Decoder({ maxPacketBytes: limit })).code).toBe('INVALID_OPTION')
    expect(failure(() => new Decoder({ maxLineBytes: limit })).code).toBe('INVALID_OPTION')
  })
})

describe('memory', () => {
  /** Bytes of buffers outside the heap. */
  const held = () => process.memoryUsage().arrayBuffers

  test('is not allocated for data that a header only announces', () => {
    const before = held()
    const decoders = Array.from({ length: 200 }, () => {
      const decoder = new Decoder()
      decoder.push(Buffer.concat([header(16, 64 * 1024 * 1024), Buffer.from('a')]))
      expect(decoder.next()).toBeUndefined()
      return decoder
    })
    // 200 promises of 64 MiB; each costs 64 KiB at most.
    expect(held() - before).toBeLessThan(200 * 80 * 1024)
    expect(decoders).toHaveLength(200)
  })

  test('is counted by the bytes received', () => {
    const size = 8 * 1024 * 1024
    const chunk = Buffer.alloc(10_000)
    const decoder = new Decoder()
    decoder.push(header(16, size))
    decoder.next()
    for (let received = chunk.length; received < size; received += chunk.length) {
      decoder.push(chunk)
      expect(decoder.next()).toBeUndefined()
      expect(decoder.keptBytes).toBe(received)
    }
  })

  test('is given by the system as bytes come, and little of it is garbage', () => {
    const size = 64 * 1024 * 1024
    const chunk = Buffer.alloc(64 * 1024)
    const before = process.memoryUsage().rss
    const decoder = new Decoder()
    decoder.push(header(16, size))
    decoder.next()
    for (let received = chunk.length; received <= size / 4; received += chunk.length) {
      decoder.push(chunk)
      decoder.next()
    }
    expect(process.memoryUsage().rss - before).toBeLessThan((size / 4) * 1.5)
  })

  test('is proportional to the bytes received, however small the chunks', () => {
    const drops = Array.from({ length: 256 }, (_, byte) => Buffer.from([byte]))
    const size = 1024 * 1024
    const before = held()
    const decoder = new Decoder()
    decoder.push(header(16, size))
    for (let at = 0; at < size - 1; at++) {
      decoder.push(drops[at % 256]!)
      decoder.next()
    }
    expect(held() - before).toBeLessThan(2 * size)
    decoder.push(drops[255]!)
    expect(drain(decoder)).toHaveLength(1)
  })
})
