import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { nextMatch, readSchedule, type Schedule } from '../../../src/doors/gearman/next-match.ts'

const read = (...fields: string[]): Schedule | undefined =>
  readSchedule(fields.map((field) => Buffer.from(field)))

/** Tuesday. */
const now = Date.parse('2025-06-10T12:34:56.789Z')

describe('the next match', () => {
  test.each([
    ['any minute', ['*', '*', '*', '*', '*'], '2025-06-10T12:35:00Z'],
    ['empty fields', ['', '', '', '', ''], '2025-06-10T12:35:00Z'],
    ['the minute of now, which has begun', ['34', '12', '', '', ''], '2025-06-11T12:34:00Z'],
    ['later this hour', ['50', '', '', '', ''], '2025-06-10T12:50:00Z'],
    ['a minute of the next hour', ['10', '', '', '', ''], '2025-06-10T13:10:00Z'],
    ['an hour of tomorrow', ['', '3', '', '', ''], '2025-06-11T03:00:00Z'],
    ['the last minute of the day', ['59', '23', '', '', ''], '2025-06-10T23:59:00Z'],
    ['a day of next month', ['0', '0', '1', '', ''], '2025-07-01T00:00:00Z'],
    ['a month of next year', ['0', '0', '1', '1', ''], '2026-01-01T00:00:00Z'],
    ['Monday, which is 0', ['0', '9', '', '', '0'], '2025-06-16T09:00:00Z'],
    ['Sunday, which is 6', ['0', '9', '', '', '6'], '2025-06-15T09:00:00Z'],
    ['Friday the 13th', ['0', '0', '13', '', '4'], '2025-06-13T00:00:00Z'],
    ['29 February', ['0', '0', '29', '2', ''], '2028-02-29T00:00:00Z'],
    ['29 February, a Tuesday', ['0', '0', '29', '2', '1'], '2028-02-29T00:00:00Z'],
    ['29 February, a Monday', ['0', '0', '29', '2', '0'], '2044-02-29T00:00:00Z'],
  ])('of %s', (_what, fields, expected) => {
    const schedule = read(...fields)
    expect(schedule && nextMatch(schedule, now)).toBe(Date.parse(expected))
  })

  test('of 31 June never matches', () => {
    expect(nextMatch({ dayOfMonth: 31, month: 6 }, now)).toBeUndefined()
  })

  test.each([
    ['30 February', { dayOfMonth: 30, month: 2 }],
    ['29 February, a Monday', { dayOfMonth: 29, month: 2, dayOfWeek: 0 }],
  ])('of %s is found by checking few days: clients may ask for thousands', (_what, schedule) => {
    const looked = vi.spyOn(Date.prototype, 'getUTCDate')
    onTestFinished(() => looked.mockRestore())
    nextMatch(schedule, now)
    expect(looked.mock.calls.length).toBeLessThan(50)
  })

  test('from the last second of a year is in the next', () => {
    const end = Date.parse('2025-12-31T23:59:59.999Z')
    expect(nextMatch({}, end)).toBe(Date.parse('2026-01-01T00:00:00Z'))
  })
})

test.each([
  ['60', '', '', '', ''],
  ['', '24', '', '', ''],
  ['', '', '0', '', ''],
  ['', '', '', '13', ''],
  ['', '', '', '', '7'],
  ['x', '', '', '', ''],
  ['-1', '', '', '', ''],
])('fields out of range are refused: %j %j %j %j %j', (...fields) => {
  expect(read(...fields)).toBeUndefined()
})
