import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  encode,
  encodeError,
  encodeRequest,
  encodeResponse,
  type ErrorPacketKey,
  errorPackets,
  noop,
  packetTypes,
  ResponseBatch,
} from '../src/index.ts'
import { anyPacket, decode, failure, hex, plain } from './helpers.ts'

describe('encoding', () => {
  it('writes text as UTF-8, as bytes of the same text would be', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 120 }), (text) => {
        expect(encode('REQ', 'ECHO_REQ', [text])).toEqual(
          encode('REQ', 'ECHO_REQ', [Buffer.from(text)]),
        )
      }),
    )
  })

  it('takes any Uint8Array', () => {
    expect(encodeRequest('WORK_COMPLETE', new Uint8Array([72]), new Uint8Array([0, 255]))).toEqual(
      hex('00524551 0000000d 00000004 48 00 00ff'),
    )
  })

  it.each(packetTypes)('refuses a wrong number of arguments for $name', (type) => {
    const args = type.args.map(() => 'x')
    expect(encode('REQ', type.name, args).readUInt32BE(4)).toBe(type.code)
    const wrong = [[...args, 'x'], ...(args.length > 0 ? [args.slice(1)] : [])]
    for (const list of wrong) {
      expect(failure(() => encode('REQ', type.name, list)).code).toBe('WRONG_ARGUMENT_COUNT')
    }
  })

  it.each(packetTypes)('refuses a NUL in every argument of $name but a blob', (type) => {
    type.args.forEach((arg, index) => {
      for (const nul of ['a\0b', Buffer.from('\0')]) {
        const args = type.args.map((_, at) => (at === index ? nul : 'x'))
        if (arg === 'data') expect(decode([encode('REQ', type.name, args)])).toHaveLength(1)
        else {
          expect(failure(() => encode('REQ', type.name, args)).code).toBe('NUL_IN_ARGUMENT')
        }
      }
    })
  })
})

describe('a batch of responses', () => {
  it('is, taken together, what the single packets are', () => {
    fc.assert(
      fc.property(fc.array(anyPacket, { maxLength: 60 }), fc.nat(100_000), (packets, size) => {
        const batch = new ResponseBatch()
        const single: Buffer[] = []
        const add = (data: string | Buffer) => {
          batch.add('ECHO_RES', data)
          single.push(encodeResponse('ECHO_RES', data))
        }
        for (const { args } of packets) add(args[0] ?? '')
        batch.addBytes(noop)
        single.push(noop)
        add(Buffer.alloc(size, 'x'))
        add('end')
        const all = Buffer.concat(single)
        expect(batch.byteLength).toBe(all.length)
        expect(Buffer.concat(batch.take()).equals(all)).toBe(true)
        expect(batch.take()).toEqual([])
        expect(batch.byteLength).toBe(0)
      }),
    )
  })

  it('of a thousand small packets comes in few buffers', () => {
    const batch = new ResponseBatch()
    for (let job = 0; job < 1000; job++) batch.add('JOB_CREATED', `H:lap:${job}`)
    const buffers = batch.take()
    expect(buffers.length).toBeLessThan(6)
    expect(decode(buffers)).toHaveLength(1000)
  })

  it('does not touch buffers that were taken', () => {
    const batch = new ResponseBatch()
    batch.add('JOB_CREATED', 'H:lap:1')
    const first = batch.take()
    batch.add('JOB_CREATED', 'H:lap:2')
    batch.take()
    expect(decode(first).map(plain)).toEqual([['RES', 'JOB_CREATED', 'H:lap:1']])
  })

  it('is unchanged by a packet that cannot be encoded', () => {
    const batch = new ResponseBatch()
    batch.add('NOOP')
    expect(failure(() => batch.add('JOB_CREATED', 'a\0b')).code).toBe('NUL_IN_ARGUMENT')
    expect(batch.take()).toEqual([noop])
  })
})

describe('ERROR packets', () => {
  it.each(Object.entries(errorPackets))('%s carries its code and text', (key, { code, text }) => {
    expect(decode([encodeError(key as ErrorPacketKey)]).map(plain)).toEqual([
      ['RES', 'ERROR', code, text],
    ])
  })

  it('has the bytes that clients know', () => {
    expect(encodeError('QUEUE_FULL').toString('latin1')).toBe(
      '\0RES\0\0\0\x13\0\0\0\x1dQUEUE_ERROR\0Job queue is full',
    )
  })
})
