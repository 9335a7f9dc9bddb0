import { describe, expect, test } from 'vitest'
import { encode, type Magic, noJob, noop, type PacketName } from '../src/index.ts'
import { decode, hex, plain } from './helpers.ts'

/** A worker that reverses text, a client that has one job for it: each packet, in order, with its bytes. */
const session: readonly [Magic, PacketName, readonly string[], string][] = [
  ['REQ', 'CAN_DO', ['reverse'], '00524551 00000001 00000007 72657665727365'],
  ['REQ', 'GRAB_JOB', [], '00524551 00000009 00000000'],
  ['RES', 'NO_JOB', [], '00524553 0000000a 00000000'],
  ['REQ', 'PRE_SLEEP', [], '00524551 00000004 00000000'],
  [
    'REQ',
    'SUBMIT_JOB',
    ['reverse', '', 'test'],
    '00524551 00000007 0000000d 7265766572736500 00 74657374',
  ],
  ['RES', 'JOB_CREATED', ['H:lap:1'], '00524553 00000008 00000007 483a6c61703a31'],
  ['RES', 'NOOP', [], '00524553 00000006 00000000'],
  ['REQ', 'GRAB_JOB', [], '00524551 00000009 00000000'],
  [
    'RES',
    'JOB_ASSIGN',
    ['H:lap:1', 'reverse', 'test'],
    '00524553 0000000b 00000014 483a6c61703a3100 7265766572736500 74657374',
  ],
  [
    'REQ',
    'WORK_COMPLETE',
    ['H:lap:1', 'tset'],
    '00524551 0000000d 0000000c 483a6c61703a3100 74736574',
  ],
  [
    'RES',
    'WORK_COMPLETE',
    ['H:lap:1', 'tset'],
    '00524553 0000000d 0000000c 483a6c61703a3100 74736574',
  ],
]
const stream = Buffer.concat(session.map(([, , , bytes]) => hex(bytes)))

describe('the example session', () => {
  test.each(session)('%s %s %j has exactly its bytes', (magic, name, args, bytes) => {
    expect(encode(magic, name, args).toString('hex')).toBe(hex(bytes).toString('hex'))
  })

  test('decodes to the same packets when it comes as one stream', () => {
    expect(decode([stream]).map(plain)).toEqual(
      session.map(([magic, name, args]) => [magic, name, ...args]),
    )
  })

  test('has the prebuilt NOOP and NO_JOB in it', () => {
    expect(noop).toEqual(hex('00524553 00000006 00000000'))
    expect(noJob).toEqual(hex('00524553 0000000a 00000000'))
  })
})
