import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatRfc3339, parseRfc3339 } from '@crossgear/fwp-codec'

describe('parseRfc3339', () => {
  test.each([
    ['1970-01-01T00:00:00Z', 0],
    ['2026-01-02T03:04:05Z', Date.UTC(2026, 0, 2, 3, 4, 5)],
    ['2026-01-02T03:04:05.123456789Z', Date.UTC(2026, 0, 2, 3, 4, 5, 123)],
    ['2026-01-02T03:04:05.9999999999999999999Z', Date.UTC(2026, 0, 2, 3, 4, 5, 999)],
    ['2026-01-02T03:04:05.5+01:30', Date.UTC(2026, 0, 2, 1, 34, 5, 500)],
    ['2026-01-02T03:04:05-07:00', Date.UTC(2026, 0, 2, 10, 4, 5)],
    ['2024-02-29T23:59:59.001-00:00', Date.UTC(2024, 1, 29, 23, 59, 59, 1)],
    ['2000-02-29T00:00:00Z', Date.UTC(2000, 1, 29)],
    ['1969-12-31T23:59:59.999Z', -1],
    ['0000-01-01T00:00:00Z', -62_167_219_200_000],
    ['9999-12-31T23:59:59.999Z', 253_402_300_799_999],
  ])('%s', (text, ms) => {
    expect(parseRfc3339(text)).toBe(ms)
  })

  test.each([
    '',
    'x',
    '2026-01-02',
    '2026-01-02T03:04:05',
    '2026-01-02T03:04:05.5',
    '2026-01-02T03:04:05.Z',
    '2026-01-02T03:04:05,5Z',
    '2026-01-02t03:04:05z',
    '2026-01-02 03:04:05Z',
    '2026-01-02T03:04Z',
    '2026-01-02T24:00:00Z',
    '2026-01-02T03:60:00Z',
    '2026-01-02T03:04:60Z',
    '2026-00-02T03:04:05Z',
    '2026-13-02T03:04:05Z',
    '2026-01-00T03:04:05Z',
    '2026-04-31T03:04:05Z',
    '2026-02-29T03:04:05Z',
    '1900-02-29T03:04:05Z',
    '2026-01-02T03:04:05+0100',
    '2026-01-02T03:04:05+24:00',
    '2026-01-02T03:04:05+01:60',
    '2026-01-02T03:04:05+01:00x',
    '2026-01-02T03:04:05Z ',
    ' 2026-01-02T03:04:05Z',
    '+026-01-02T03:04:05Z',
    '2026/01/02T03:04:05Z',
    '2026-01-02T03-04-05Z',
    '２026-01-02T03:04:05Z',
  ])('%j is no timestamp', (text) => {
    expect(parseRfc3339(text)).toBeUndefined()
  })
})

describe('formatRfc3339', () => {
  test.each([
    [0, '1970-01-01T00:00:00Z'],
    [-1, '1969-12-31T23:59:59.999Z'],
    [1500, '1970-01-01T00:00:01.5Z'],
    [1.25, '1970-01-01T00:00:00.00125Z'],
    [999.9999, '1970-01-01T00:00:01Z'],
    [253_402_300_799_999, '9999-12-31T23:59:59.999Z'],
  ])('%d', (ms, text) => {
    expect(formatRfc3339(ms)).toBe(text)
  })

  test.each([NaN, Infinity, -Infinity, 253_402_300_800_000, -62_167_219_200_001])(
    '%d has no timestamp',
    (ms) => {
      expect(() => formatRfc3339(ms)).toThrow(RangeError)
    },
  )

  test('agrees with the calendar of the platform, both ways', () => {
    const range = { min: -62_167_219_200_000, max: 253_402_300_799_999 }
    fc.assert(
      fc.property(fc.integer(range), (ms) => {
        const iso = new Date(ms).toISOString()
        expect(parseRfc3339(iso)).toBe(ms)
        expect(formatRfc3339(ms)).toBe(
          iso.replace(/\.?0*Z$/, (end) =>
            iso.endsWith('.000Z') ? 'Z' : end.startsWith('.') ? end : 'Z',
          ),
        )
        expect(parseRfc3339(formatRfc3339(ms))).toBe(ms)
      }),
      { numRuns: 2000 },
    )
  })
})
