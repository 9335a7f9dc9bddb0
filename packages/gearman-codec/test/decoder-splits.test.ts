import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Decoder, encode, packetTypes } from '../src/index.ts'
import { anyPacket, cut, decode, drain, packetOf, plain } from './helpers.ts'

const stream = Buffer.concat([
  encode('REQ', 'CAN_DO', ['reverse']),
  Buffer.from('status\r\n'),
  encode('REQ', 'GRAB_JOB'),
  Buffer.from('workers\n'),
  encode('REQ', 'SUBMIT_JOB', ['reverse', 'id', Buffer.from('a\0b\n\0')]),
  encode('RES', 'NOOP'),
  Buffer.from('\nmaxqueue é 5\n'),
])
const whole = [
  ['REQ', 'CAN_DO', 'reverse'],
  'status',
  ['REQ', 'GRAB_JOB'],
  'workers',
  ['REQ', 'SUBMIT_JOB', 'reverse', 'id', 'a\0b\n\0'],
  ['RES', 'NOOP'],
  '',
  'maxqueue é 5',
]

describe('a stream of packets and lines', () => {
  test('decodes the same when it is cut in two anywhere', () => {
    for (let at = 0; at <= stream.length; at++) {
      expect(decode(cut(stream, [at])).map(plain)).toEqual(whole)
    }
  })

  test('decodes the same when it is cut in three anywhere', () => {
    const expected = JSON.stringify(whole)
    const wrong: number[][] = []
    for (let first = 0; first <= stream.length; first++) {
      for (let second = first; second <= stream.length; second++) {
        const messages = decode(cut(stream, [first, second]))
        if (JSON.stringify(messages.map(plain)) !== expected) wrong.push([first, second])
      }
    }
    expect(wrong).toEqual([])
  })

  test('decodes the same byte by byte', () => {
    const bytes = Array.from(stream, (_, at) => stream.subarray(at, at + 1))
    expect(decode(bytes).map(plain)).toEqual(whole)
  })

  test('decodes the same when all chunks are pushed before the first is read', () => {
    const decoder = new Decoder()
    for (let round = 0; round < 40; round++) {
      for (let at = 0; at < stream.length; at++) decoder.push(stream.subarray(at, at + 1))
    }
    const messages = drain(decoder).map(plain)
    expect(messages).toEqual(Array.from({ length: 40 }, () => whole).flat())
  })

  test('returns nothing, and no error, while a message is incomplete', () => {
    for (const end of [1, 4, 11, 12, 18]) {
      const decoder = new Decoder()
      decoder.push(stream.subarray(0, end))
      expect(decoder.next()).toBeUndefined()
      expect(decoder.next()).toBeUndefined()
    }
  })

  test('gives a message without data as soon as its header is whole', () => {
    const decoder = new Decoder()
    const grab = encode('REQ', 'GRAB_JOB')
    decoder.push(grab.subarray(0, 11))
    expect(decoder.next()).toBeUndefined()
    decoder.push(grab.subarray(11))
    expect(decoder.next()).toMatchObject({ name: 'GRAB_JOB', args: [] })
  })
})

describe('decoding encoded packets', () => {
  test.each(packetTypes)('gives back any $name', (type) => {
    fc.assert(
      fc.property(packetOf(type), ({ magic, name, args }) => {
        expect(decode([encode(magic, name, args)])).toEqual([{ magic, name, args }])
      }),
      { numRuns: 60 },
    )
  })

  test('gives back any sequence of packets in any chunks', () => {
    fc.assert(
      fc.property(
        fc.array(anyPacket, { maxLength: 12 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (packets, places) => {
          const bytes = Buffer.concat(packets.map((p) => encode(p.magic, p.name, p.args)))
          const chunks = cut(
            bytes,
            places.map((place) => place % (bytes.length + 1)),
          )
          expect(decode(chunks)).toEqual(packets)
        },
      ),
      { numRuns: 400 },
    )
  })

  test('gives back a packet of many megabytes that comes in chunks of any size', () => {
    const data = Buffer.alloc(5 * 1024 * 1024 + 13, 'gearman')
    const bytes = encode('REQ', 'WORK_COMPLETE', ['H:lap:1', data])
    for (const size of [1000, 65_536, 70_001, 3_000_000, bytes.length]) {
      const chunks: Buffer[] = []
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
      const [packet, ...rest] = decode(chunks)
      expect(rest).toEqual([])
      if (packet === undefined || packet.name === 'TEXT') throw new Error('no packet')
      expect(packet.args[1]?.equals(data)).toBe(true)
    }
  })
})
