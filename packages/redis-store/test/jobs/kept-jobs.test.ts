import { beforeEach, expect, test } from 'vitest'
import type { NewJob } from '@crossgear/core-scheduler'
import { KeptJobs } from '../../src/step/kept-jobs.ts'

const bytesOfOne = 1000 + 320
const bounds = { maxBytes: 3 * bytesOfOne, maxJobs: 1_000, longestMs: 10_000 }
const job = (): NewJob => ({
  input: Buffer.alloc(1000),
  door: 'gearman',
  level: 5,
  foreground: false,
})
let kept: KeptJobs

beforeEach(() => {
  kept = new KeptJobs(bounds)
})

test('a job is kept until it has ended', () => {
  kept.add('mail', 1, job(), 7_000, 0)
  expect(kept.get('mail', 1, '7.000')).toBeDefined()
  expect(kept.get('mail', 1, '7.000')).toBeDefined()
  kept.drop('mail', 1)
  expect(kept.get('mail', 1, '7.000')).toBeUndefined()
  expect(kept.bytes).toBe(0)
})

test('another job that has its id is not taken for it', () => {
  kept.add('mail', 1, job(), 7_000, 0)
  expect(kept.get('mail', 1, '8.000')).toBeUndefined()
})

test('a job given an id again takes the place of the one before', () => {
  kept.add('mail', 1, job(), 7_000, 0)
  kept.add('mail', 1, job(), 8_000, 0)
  expect(kept.bytes).toBe(bytesOfOne)
  expect(kept.get('mail', 1, '8.000')).toBeDefined()
})

test('jobs claimed elsewhere are dropped when there is no room', () => {
  for (let id = 1; id <= 4; id += 1) kept.add('mail', id, job(), 7_000, 0)
  expect(kept.get('mail', 4, '7.000')).toBeUndefined()
  kept.claimed('mail', 4)
  for (let id = 4; id <= 5; id += 1) kept.add('mail', id, job(), 7_000, 0)
  expect(kept.bytes).toBe(3 * bytesOfOne)
  expect(kept.get('mail', 2, '7.000')).toBeUndefined()
  expect(kept.get('mail', 3, '7.000')).toBeDefined()
})

test('where none was claimed the first ones stay, and new ones come when half of them are gone', () => {
  kept = new KeptJobs({ ...bounds, maxBytes: 1e9, maxJobs: 4 })
  for (let id = 1; id <= 6; id += 1) kept.add('mail', id, job(), 7_000, 0)
  expect(kept.ranges(0)).toEqual(['mail', 1, 1, 4, 0])
  const dropThenAdd = (dropped: number, added: number): void => {
    kept.drop('mail', dropped)
    kept.add('mail', added, job(), 7_000, 0)
  }
  dropThenAdd(1, 7)
  dropThenAdd(2, 8)
  expect(kept.ranges(0)).toEqual(['mail', 1, 3, 4, 0])
  dropThenAdd(3, 9)
  kept.add('mail', 10, job(), 7_000, 0)
  expect(kept.ranges(0)).toEqual(['mail', 2, 4, 4, 0, 9, 10, 0])
})

test('a lane with few jobs gets room from one that waits', () => {
  kept = new KeptJobs({ ...bounds, maxBytes: 1e9, maxJobs: 4 })
  for (let id = 1; id <= 4; id += 1) kept.add('slow', id, job(), 7_000, 0)
  for (let id = 1; id <= 2; id += 1) kept.add('mail', id, job(), 7_000, 0)
  expect(kept.ranges(0)).toEqual(['slow', 1, 3, 4, 0, 'mail', 1, 1, 2, 0])
})

test('a small payload counts with the whole chunk that it keeps alive, shared by others of the chunk', () => {
  const chunk = new ArrayBuffer(2000)
  const part = (at: number): NewJob => ({ ...job(), input: new Uint8Array(chunk, at, 100) })
  kept.add('mail', 1, part(0), 7_000, 0)
  expect(kept.bytes).toBe(2000 + 320)
  kept.add('mail', 2, { ...part(100), unique: new Uint8Array(chunk, 200, 10) }, 7_000, 0)
  expect(kept.bytes).toBe(2000 + 2 * 320 + 96)
  kept.drop('mail', 1)
  expect(kept.bytes).toBe(2000 + 320 + 96)
  kept.drop('mail', 2)
  expect(kept.bytes).toBe(0)
})

test('small payloads, each of its own chunk, are dropped when their chunks have no room', () => {
  const small = (): NewJob => ({ ...job(), input: new Uint8Array(new ArrayBuffer(2000), 0, 1) })
  for (let id = 1; id <= 3; id += 1) kept.add('mail', id, small(), 7_000, 0)
  expect(kept.get('mail', 2, '7.000')).toBeUndefined()
  expect(kept.get('mail', 3, '7.000')).toBeDefined()
  expect(kept.bytes).toBe(2000 + 320)
})

test('the texts of a Faktory job count', () => {
  kept.add('mail', 1, { ...job(), door: 'faktory', envelope: 'x'.repeat(100) }, 7_000, 0)
  expect(kept.bytes).toBe(bytesOfOne + 64 + 200 + 1000)
})

test('the oldest claimed ones are dropped first, also when ids restart, and whatever was dropped in between', () => {
  kept = new KeptJobs({ ...bounds, maxBytes: 1e9, maxJobs: 2_000 })
  for (let id = 1; id <= 9_000; id += 1) {
    kept.add('mail', id, job(), 7_000, 0)
    if (id % 3 > 0) kept.drop('mail', id)
    else kept.claimed('mail', id)
  }
  for (const id of [9_000, 1, 2]) kept.add('mail', id, job(), 8_000, 0)
  const left = [3_003, 3_006, 3_009, 9_000, 1, 2].filter((id) =>
    ['7.000', '8.000'].some((enqueued) => kept.get('mail', id, enqueued)),
  )
  expect(left).toEqual([3_009, 9_000, 1, 2])
})

test('the number of kept jobs is bounded, however small they are', () => {
  kept = new KeptJobs({ ...bounds, maxJobs: 2 })
  const small = (): NewJob => ({ ...job(), input: new Uint8Array(1) })
  for (let id = 1; id <= 3; id += 1) {
    kept.add('mail', id, small(), 7_000, 0)
    kept.claimed('mail', id)
  }
  kept.add('mail', 3, small(), 8_000, 0)
  expect(kept.get('mail', 1, '7.000')).toBeUndefined()
  expect(kept.get('mail', 2, '7.000')).toBeDefined()
  expect(kept.get('mail', 3, '8.000')).toBeDefined()
})

test('a job is kept for 10 s', () => {
  kept.add('mail', 1, job(), 7_000, 0)
  kept.add('mail', 2, job(), 7_000, 6_000)
  expect(kept.ranges(9_999)).toEqual(['mail', 1, 1, 2, 0])
  kept.ranges(10_000)
  expect(kept.get('mail', 1, '7.000')).toBeUndefined()
  expect(kept.get('mail', 2, '7.000')).toBeDefined()
  expect(kept.ranges(16_000)).toEqual([])
  expect(kept.bytes).toBe(0)
})

test('a step names ranges of ids between submissions of others, and ids with waiting clients', () => {
  kept = new KeptJobs()
  for (const id of [1, 2, 3, 6, 9])
    kept.add('mail', id, { ...job(), foreground: id === 6 }, 7_000, 0)
  kept.add('sms', 4, job(), 7_000, 0)
  expect(kept.ranges(0)).toEqual(['mail', 3, 1, 3, 0, 6, 6, 1, 9, 9, 0, 'sms', 1, 4, 4, 0])
})

test('a range is dropped with its jobs', () => {
  kept = new KeptJobs()
  for (const id of [1, 2, 6, 7]) kept.add('mail', id, job(), 7_000, 0)
  for (const id of [1, 2, 6]) kept.drop('mail', id)
  expect(kept.ranges(0)).toEqual(['mail', 1, 7, 7, 0])
})

test('a range leaves out jobs that had no room', () => {
  for (let id = 1; id <= 9; id += 1) {
    kept.add('mail', id, job(), 7_000, 0)
    kept.claimed('mail', id)
  }
  expect(kept.ranges(0)).toEqual(['mail', 1, 7, 9, 0])
})

test('no id from before a flush is in a range', () => {
  for (const id of [8, 9, 1]) kept.add('mail', id, job(), 7_000, 0)
  expect(kept.ranges(0)).toEqual(['mail', 1, 1, 1, 0])
  kept.add('mail', 1, { ...job(), level: 4 }, 7_000, 0)
  expect(kept.ranges(0)).toEqual(['mail', 0])
})

test('only the ranges of given lanes are named', () => {
  for (const lane of ['mail', 'sms', 'push']) kept.add(lane, 1, job(), 7_000, 0)
  expect(kept.ranges(0, ['push', 'fax', 'mail'])).toEqual(['push', 1, 1, 1, 0, 'mail', 1, 1, 1, 0])
})

test('a step names no more than 64 ranges, of a lane no more than 16', () => {
  kept = new KeptJobs()
  for (let id = 1; id < 200; id += 2) kept.add('mail', id, job(), 7_000, 0)
  expect(kept.ranges(0).length).toBe(2 + 3 * 16)
  for (let lane = 0; lane < 100; lane += 1) kept.add(`f${lane}`, 1, job(), 7_000, 0)
  expect(kept.ranges(0).length).toBe(2 + 3 * 16 + 5 * 48)
})

test.each([
  { level: 4 },
  { staleAtMs: 9 },
  { reserveForSeconds: 9 },
  { lock: { key: 'k', forMs: 9, until: 'start' } },
])('a job that the store has to check is not kept: %j', (more) => {
  kept.add('mail', 1, { ...job(), ...more } as NewJob, 7_000, 0)
  expect(kept.ranges(0)).toEqual([])
})
