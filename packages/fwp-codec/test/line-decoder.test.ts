import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FwpError, LineDecoder } from '../src/index.ts'

function drain(decoder: LineDecoder): string[] {
  const lines: string[] = []
  for (let line = decoder.next(); line !== undefined; line = decoder.next()) {
    lines.push(line.toString('latin1'))
  }
  return lines
}

function decode(chunks: readonly Buffer[], maxLineBytes = 1024): string[] {
  const decoder = new LineDecoder({ maxLineBytes })
  return chunks.flatMap((chunk) => {
    decoder.push(chunk)
    return drain(decoder)
  })
}

const tooLong = expect.objectContaining({ code: 'LINE_TOO_LONG' })

describe('LineDecoder', () => {
  test('a line ends with CRLF or with LF, and a CR elsewhere belongs to the line', () => {
    expect(decode([Buffer.from('INFO\r\nEND\n\r\n\nA\rB\r\r\nrest')])).toEqual([
      'INFO',
      'END',
      '',
      '',
      'A\rB\r',
    ])
  })

  test('a stream means the same wherever it is split', () => {
    const stream = Buffer.from('HELLO {"v":2}\r\nFETCH a b\nEND\r\n')
    const whole = decode([stream])
    for (let first = 0; first <= stream.length; first++) {
      for (let second = first; second <= stream.length; second++) {
        const parts = [
          stream.subarray(0, first),
          stream.subarray(first, second),
          stream.subarray(second),
        ]
        expect(decode(parts)).toEqual(whole)
      }
    }
    expect(decode(Array.from(stream, (byte) => Buffer.of(byte)))).toEqual(whole)
  })

  test('any lines in any chunks are decoded unchanged, read at once or later', () => {
    const line = fc.array(fc.constantFrom(0, 13, 32, 65, 255), { maxLength: 40 })
    const chunkSizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 })
    fc.assert(
      fc.property(fc.array(line), chunkSizes, fc.boolean(), (lines, sizes, isLate) => {
        const stream = Buffer.concat(lines.map((bytes) => Buffer.from([...bytes, 13, 10])))
        const decoder = new LineDecoder()
        const seen: string[] = []
        for (let at = 0, turn = 0; at < stream.length; turn++) {
          const size = sizes[turn % sizes.length]!
          decoder.push(stream.subarray(at, at + size))
          at += size
          if (!isLate) seen.push(...drain(decoder))
        }
        seen.push(...drain(decoder))
        expect(seen).toEqual(lines.map((bytes) => Buffer.from(bytes).toString('latin1')))
      }),
    )
  })

  test('a line within one chunk is a view of it, not a copy', () => {
    const chunk = Buffer.from('PUSH {}\r\n')
    const decoder = new LineDecoder()
    decoder.push(chunk)
    const line = decoder.next()
    expect(line?.buffer).toBe(chunk.buffer)
    expect(line?.byteOffset).toBe(chunk.byteOffset)
  })

  test('a line as long as the limit passes, with either end and in any pieces', () => {
    for (const end of ['\n', '\r\n']) {
      const stream = Buffer.from(`${'x'.repeat(8)}${end}`)
      expect(decode([stream], 8)).toEqual(['xxxxxxxx'])
      expect(
        decode(
          Array.from(stream, (byte) => Buffer.of(byte)),
          8,
        ),
      ).toEqual(['xxxxxxxx'])
    }
  })

  test('a line longer by one byte fails, whole or in pieces', () => {
    for (const end of ['\n', '\r\n']) {
      const stream = Buffer.from(`${'x'.repeat(9)}${end}`)
      expect(() => decode([stream], 8)).toThrow(tooLong)
      expect(() =>
        decode(
          Array.from(stream, (byte) => Buffer.of(byte)),
          8,
        ),
      ).toThrow(tooLong)
    }
  })

  test('a peer that never ends its line is refused at the limit', () => {
    const decoder = new LineDecoder({ maxLineBytes: 1000 })
    let taken = 0
    expect(() => {
      for (; taken < 10_000; taken++) {
        decoder.push(Buffer.from('x'))
        decoder.next()
      }
    }).toThrow(tooLong)
    expect(taken).toBe(1000)
  })

  test('lines before the one that is too long are still returned', () => {
    const decoder = new LineDecoder({ maxLineBytes: 4 })
    decoder.push(Buffer.from('END\r\nxxxxxxxx'))
    expect(decoder.next()?.toString()).toBe('END')
    expect(() => decoder.next()).toThrow(tooLong)
  })

  test('a failed decoder stays failed', () => {
    const decoder = new LineDecoder({ maxLineBytes: 4 })
    decoder.push(Buffer.from('xxxxxxxx\nEND\n'))
    expect(() => decoder.next()).toThrow(FwpError)
    expect(() => decoder.next()).toThrow(tooLong)
    expect(() => {
      decoder.push(Buffer.from('END\n'))
    }).toThrow(tooLong)
  })

  test('the limit may be raised between lines', () => {
    const decoder = new LineDecoder({ maxLineBytes: 4 })
    decoder.push(Buffer.from('END\nlonger line\n'))
    expect(decoder.next()?.toString()).toBe('END')
    decoder.maxLineBytes = 64
    expect(decoder.next()?.toString()).toBe('longer line')
  })
})
