import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  encode,
  encodeError,
  encodeRequest,
  type ErrorPacketKey,
  errorPackets,
  packetTypes,
} from '../src/index.ts'
import { decode, failure, hex, plain } from './helpers.ts'

describe('encoding', () => {
  test('writes text as UTF-8, as bytes of the same text would be', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 120 }), (text) => {
        expect(encode('REQ', 'ECHO_REQ', [text])).toEqual(
          encode('REQ', 'ECHO_REQ', [Buffer.from(text)]),
        )
      }),
    )
  })

  test('takes any Uint8Array', () => {
    expect(encodeRequest('WORK_COMPLETE', new Uint8Array([72]), new Uint8Array([0, 255]))).toEqual(
      hex('00524551 0000000d 00000004 48 00 00ff'),
    )
  })

  test.each(packetTypes)('refuses a wrong number of arguments for $name', (type) => {
    const args = type.args.map(() => 'x')
    expect(encode('REQ', type.name, args).readUInt32BE(4)).toBe(type.code)
    const wrong = [[...args, 'x'], ...(args.length > 0 ? [args.slice(1)] : [])]
    for (const list of wrong) {
      expect(failure(() => encode('REQ', type.name, list)).code).toBe('WRONG_ARGUMENT_COUNT')
    }
  })

  test.each(packetTypes)('refuses a NUL in every argument of $name but a blob', (type) => {
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

describe('ERROR packets', () => {
  test.each(Object.entries(errorPackets))('%s carries its code and text', (key, { code, text }) => {
    expect(decode([encodeError(key as ErrorPacketKey)]).map(plain)).toEqual([
      ['RES', 'ERROR', code, text],
    ])
  })

  test('has the bytes that clients know', () => {
    expect(encodeError('QUEUE_FULL').toString('latin1')).toBe(
      '\0RES\0\0\0\x13\0\0\0\x1dQUEUE_ERROR\0Job queue is full',
    )
  })
})
