import { describe, expect, test } from 'vitest'
import { CronEntryError, readCronEntry } from '../../../src/config/cron-entry.ts'

const job = { type: 'report' }
const utc = (...parts: [number, number, number, number?, number?, number?]): number =>
  Date.UTC(...parts)

describe('a cron entry', () => {
  test.each([
    ['*/5 * * * *', 'UTC', utc(2026, 0, 1, 0, 1), utc(2026, 0, 1, 0, 5)],
    ['*/10 * * * * *', 'UTC', utc(2026, 0, 1, 0, 0, 1), utc(2026, 0, 1, 0, 0, 10)],
    ['@daily', 'UTC', utc(2026, 0, 1, 0, 1), utc(2026, 0, 2)],
    ['0 5 * * *', 'Europe/Berlin', utc(2026, 0, 1, 5), utc(2026, 0, 2, 4)],
    ['30 2 * * *', 'Europe/Berlin', utc(2026, 5, 1, 5), utc(2026, 5, 2, 0, 30)],
    ['0 0 * * *', 'UTC', utc(2026, 0, 2), utc(2026, 0, 3)],
  ])('%s in %s comes next when it should', (schedule, timezone, fromMs, nextMs) => {
    expect(readCronEntry({ schedule, timezone, job }).nextAfter(fromMs)).toBe(nextMs)
  })

  test.each([
    ['* * * * *', utc(2026, 9, 25, 0, 59), utc(2026, 9, 25, 1)],
    ['* * * * *', utc(2026, 9, 25, 1, 10), utc(2026, 9, 25, 1, 11)],
    ['*/20 * * * * *', utc(2026, 9, 25, 1, 10), utc(2026, 9, 25, 1, 10, 20)],
    ['@hourly', utc(2026, 9, 25, 0, 30), utc(2026, 9, 25, 1)],
    ['@hourly', utc(2026, 9, 25, 1), utc(2026, 9, 25, 2)],
    ['30 2 * * *', utc(2026, 9, 25), utc(2026, 9, 25, 0, 30)],
    ['30 2 * * *', utc(2026, 9, 25, 0, 30), utc(2026, 9, 26, 1, 30)],
    ['30 2 * * *', utc(2026, 9, 25, 1, 10), utc(2026, 9, 26, 1, 30)],
    ['0 3 * * *', utc(2026, 9, 25, 1, 10), utc(2026, 9, 25, 2)],
  ])('%s keeps its schedule while clocks repeat an hour', (schedule, fromMs, nextMs) => {
    const entry = readCronEntry({ schedule, timezone: 'Europe/Berlin', job })
    expect(entry.nextAfter(fromMs)).toBe(nextMs)
  })

  test.each([
    ['* * * * *', utc(2026, 2, 29, 0, 59), utc(2026, 2, 29, 1)],
    ['@hourly', utc(2026, 2, 29), utc(2026, 2, 29, 1)],
    ['30 2 * * *', utc(2026, 2, 29), utc(2026, 2, 29, 1, 30)],
    ['30 2 * * *', utc(2026, 2, 29, 1, 30), utc(2026, 2, 30, 0, 30)],
  ])('%s keeps its schedule while clocks skip an hour', (schedule, fromMs, nextMs) => {
    const entry = readCronEntry({ schedule, timezone: 'Europe/Berlin', job })
    expect(entry.nextAfter(fromMs)).toBe(nextMs)
  })

  test('may have a schedule in the past', () => {
    const entry = readCronEntry({ schedule: '2020-01-01T00:00:00', job })
    expect(entry.nextAfter(utc(2026, 0, 1))).toBeUndefined()
  })

  test('has a job as for PUSH', () => {
    const given = { type: 'report', args: [1, 'a'], queue: 'slow', retry: 3, custom: { track: 1 } }
    const entry = readCronEntry({ schedule: '* * * * *', job: given })
    expect(entry.jobOf('12345678')).toMatchObject({
      jid: '12345678',
      jobtype: 'report',
      args: '[1,"a"]',
      queue: 'slow',
      retry: 3,
      custom: '{"track":1}',
    })
    expect(entry.job).toEqual(given)
  })

  test('has a name of its own, the same at every node', () => {
    const name = (value: object): string => readCronEntry({ schedule: '@daily', ...value }).name
    expect(name({ job })).toBe(name({ job }))
    expect(name({ job })).toMatch(/^report-[0-9a-f]{8}$/)
    expect(name({ job })).not.toBe(name({ job: { ...job, args: [1] } }))
    expect(name({ job, name: 'mine' })).toBe('mine')
  })

  test.each([
    [7, 'a cron entry must be a table'],
    [{ job }, 'schedule must be a text of 1 to 255 bytes'],
    [{ schedule: '@daily' }, 'job must be a table'],
    [{ schedule: '@daily', job: {} }, 'job: jobs must have a jobtype parameter'],
    [{ schedule: '@daily', job, when: 1 }, 'when is unknown: use name, schedule, timezone, job'],
    [{ schedule: '@daily', job: { type: 'a\nb' } }, 'job: jobtype must not contain control'],
    [{ schedule: '@daily', job: { ...job, queue: 'a b' } }, /^job: cannot get "a b" queue/],
    [
      { schedule: '@daily', job: { ...job, at: '2030-01-01T00:00:00Z' } },
      /^job.at is not for cron/,
    ],
    [
      { schedule: '@daily', job: { ...job, custom: { unique_until: 'x' } } },
      /^job: invalid custom/,
    ],
    [{ schedule: '61 * * * *', job }, /^schedule "61 \* \* \* \*" in UTC: /],
    [{ schedule: '* * * * * * *', job }, /^schedule /],
    [{ schedule: '0 0 30 2 *', job }, /^schedule "0 0 30 2 \*" never comes/],
    [{ schedule: '@daily', timezone: 'Mars', job }, /^schedule "@daily" in Mars: /],
  ])('%j is refused', (value, message) => {
    expect(() => readCronEntry(value)).toThrow(CronEntryError)
    expect(() => readCronEntry(value)).toThrow(message)
  })
})
