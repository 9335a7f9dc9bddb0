import { describe, expect, test } from 'vitest'
import { maxPacketCode, packetTypes } from '../src/index.ts'

const names = (magic: 'REQ' | 'RES') =>
  packetTypes.filter((type) => (type.magics as readonly string[]).includes(magic))

describe('packet types', () => {
  test('are numbered from 1 to 42 without a gap', () => {
    expect(maxPacketCode).toBe(42)
    expect(packetTypes.map((type) => type.code)).toEqual(
      Array.from({ length: 42 }, (_, i) => i + 1),
    )
  })

  test('have a name each', () => {
    expect(new Set(packetTypes.map((type) => type.name)).size).toBe(42)
  })

  test('travel to the server, from it, both ways for work packets, and never for number 5', () => {
    expect(names('REQ')).toHaveLength(30)
    expect(names('RES')).toHaveLength(17)
    expect(packetTypes.filter((type) => type.magics.length === 2).map((type) => type.name)).toEqual(
      ['WORK_STATUS', 'WORK_COMPLETE', 'WORK_FAIL', 'WORK_EXCEPTION', 'WORK_DATA', 'WORK_WARNING'],
    )
    expect(packetTypes[4].magics).toEqual([])
  })

  test('end in a blob exactly where the last argument is called data', () => {
    for (const type of packetTypes) expect(type.blob).toBe(type.args.at(-1) === 'data')
  })
})
