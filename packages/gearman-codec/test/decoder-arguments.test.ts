import { describe, expect, test } from 'vitest'
import { encode } from '../src/index.ts'
import { decode, failure, plain, raw } from './helpers.ts'

describe('arguments', () => {
  test('are views of the received bytes, not copies', () => {
    const bytes = encode('REQ', 'SUBMIT_JOB_BG', ['reverse', 'id', 'test'])
    const [packet] = decode([bytes])
    if (packet === undefined || packet.name === 'TEXT') throw new Error('no packet')
    for (const arg of packet.args) expect(arg.buffer).toBe(bytes.buffer)
    bytes.fill('T', bytes.length - 4)
    expect(packet.args[2]?.toString()).toBe('TTTT')
  })

  test('may all be empty', () => {
    expect(decode([raw('\0REQ', 7, '\0\0'), raw('\0REQ', 1)]).map(plain)).toEqual([
      ['REQ', 'SUBMIT_JOB', '', '', ''],
      ['REQ', 'CAN_DO', ''],
    ])
  })

  test('leave every NUL in a blob alone', () => {
    expect(decode([raw('\0REQ', 13, 'H\0\0\0')]).map(plain)).toEqual([
      ['REQ', 'WORK_COMPLETE', 'H', '\0\0'],
    ])
  })

  test('that end a packet and are no blob end at their first NUL', () => {
    const bytes = [
      raw('\0REQ', 14, 'H:x\0'),
      raw('\0REQ', 15, 'H:x\0y'),
      raw('\0REQ', 23, 'f\x005\0'),
    ]
    expect(decode(bytes).map(plain)).toEqual([
      ['REQ', 'WORK_FAIL', 'H:x'],
      ['REQ', 'GET_STATUS', 'H:x'],
      ['REQ', 'CAN_DO_TIMEOUT', 'f', '5'],
    ])
  })

  test('are none, whatever the data, in packets that have none', () => {
    expect(decode([Buffer.concat([raw('\0REQ', 9, 'junk'), raw('\0REQ', 4)])]).map(plain)).toEqual([
      ['REQ', 'GRAB_JOB'],
      ['REQ', 'PRE_SLEEP'],
    ])
  })

  test.each([
    [7, ''],
    [7, 'f'],
    [7, 'f\0u'],
    [12, 'H:x'],
    [23, 'f'],
    [35, 'f\0u\x000\x000\x001\x001\x000'],
    [37, 'f\0u\0r\0d'],
  ])('of packet type %i that end too early (%j) are malformed', (code, body) => {
    const bytes = raw('\0REQ', code, body)
    expect(failure(() => decode([bytes])).code).toBe('MALFORMED_ARGUMENTS')
  })

  test('never reach into the next packet', () => {
    const bytes = Buffer.concat([raw('\0REQ', 7, 'f\0u'), raw('\0REQ', 9)])
    expect(failure(() => decode([bytes])).code).toBe('MALFORMED_ARGUMENTS')
  })

  test('may leave out the last one in work packets', () => {
    const packets = [raw('\0REQ', 13, 'H:x'), raw('\0REQ', 28, 'H:x'), raw('\0REQ', 12, 'H:x\x001')]
    expect(decode([Buffer.concat(packets)]).map(plain)).toEqual([
      ['REQ', 'WORK_COMPLETE', 'H:x', ''],
      ['REQ', 'WORK_DATA', 'H:x', ''],
      ['REQ', 'WORK_STATUS', 'H:x', '1', ''],
    ])
  })
})

describe('packets a server does not expect', () => {
  test('are decoded all the same, with their magic', () => {
    expect(
      decode([raw('\0RES', 16, 'x'), raw('\0REQ', 5), raw('\0REQ', 6), raw('\0REQ', 24)]).map(
        plain,
      ),
    ).toEqual([
      ['RES', 'ECHO_REQ', 'x'],
      ['REQ', 'UNUSED'],
      ['REQ', 'NOOP'],
      ['REQ', 'ALL_YOURS'],
    ])
  })
})
