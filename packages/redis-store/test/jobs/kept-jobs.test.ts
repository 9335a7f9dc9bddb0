import { beforeEach, expect, test } from 'vitest'
import type { NewJob } from '@crossgear/core-scheduler'
import { KeptJobs } from '../../src/step/kept-jobs.ts'

const bytesOfOne = 1000 + 512
const job = (): NewJob => ({
  input: Buffer.alloc(1000),
  door: 'gearman',
  level: 5,
  foreground: false,
})
let kept: KeptJobs

beforeEach(() => {
  kept = new KeptJobs({ mostBytes: 3 * bytesOfOne, longestMs: 10_000 })
})

test('a job is had until it has ended', () => {
  kept.add('mail', 1, job(), '7.000', 0)
  expect(kept.get('mail', 1, '7.000')).toBeDefined()
  expect(kept.get('mail', 1, '7.000')).toBeDefined()
  kept.drop('mail', 1)
  expect(kept.get('mail', 1, '7.000')).toBeUndefined()
  expect(kept.bytes).toBe(0)
})

test('another job that has its id is not taken for it', () => {
  kept.add('mail', 1, job(), '7.000', 0)
  expect(kept.get('mail', 1, '8.000')).toBeUndefined()
})

test('a job given an id again takes the place of the one before', () => {
  kept.add('mail', 1, job(), '7.000', 0)
  kept.add('mail', 1, job(), '8.000', 0)
  expect(kept.bytes).toBe(bytesOfOne)
  expect(kept.get('mail', 1, '8.000')).toBeDefined()
})

test('the oldest go where there is no room', () => {
  kept = new KeptJobs({ mostBytes: 3 * bytesOfOne, longestMs: 10_000 })
  for (let id = 1; id <= 5; id += 1) kept.add('mail', id, job(), '7.000', 0)
  expect(kept.bytes).toBe(3 * bytesOfOne)
  expect(kept.get('mail', 2, '7.000')).toBeUndefined()
  expect(kept.get('mail', 3, '7.000')).toBeDefined()
})

test('a job is kept for 10 s', () => {
  kept.add('mail', 1, job(), '7.000', 0)
  kept.add('mail', 2, job(), '7.000', 6_000)
  expect(kept.ranges(9_999)).toEqual(['mail', 1, 1, 2, 0])
  kept.ranges(10_000)
  expect(kept.get('mail', 1, '7.000')).toBeUndefined()
  expect(kept.get('mail', 2, '7.000')).toBeDefined()
  expect(kept.ranges(16_000)).toEqual([])
  expect(kept.bytes).toBe(0)
})

test('a step is told of ranges of ids, between which others have submitted, and of those for which clients wait', () => {
  kept = new KeptJobs()
  for (const id of [1, 2, 3, 6, 9])
    kept.add('mail', id, { ...job(), foreground: id === 6 }, '7.000', 0)
  kept.add('sms', 4, job(), '7.000', 0)
  expect(kept.ranges(0)).toEqual(['mail', 3, 1, 3, 0, 6, 6, 1, 9, 9, 0, 'sms', 1, 4, 4, 0])
})

test('a range goes with its jobs', () => {
  kept = new KeptJobs()
  for (const id of [1, 2, 6, 7]) kept.add('mail', id, job(), '7.000', 0)
  for (const id of [1, 2, 6]) kept.drop('mail', id)
  expect(kept.ranges(0)).toEqual(['mail', 1, 6, 7, 0])
})

test('no id from before a flush is in a range', () => {
  for (const id of [8, 9, 1]) kept.add('mail', id, job(), '7.000', 0)
  expect(kept.ranges(0)).toEqual(['mail', 1, 1, 1, 0])
  kept.add('mail', 1, { ...job(), level: 4 }, '7.000', 0)
  expect(kept.ranges(0)).toEqual(['mail', 0])
})

test('a step names no more than 64 ranges, of a lane no more than 16', () => {
  kept = new KeptJobs()
  for (let id = 1; id < 200; id += 2) kept.add('mail', id, job(), '7.000', 0)
  expect(kept.ranges(0).length).toBe(2 + 3 * 16)
  for (let lane = 0; lane < 100; lane += 1) kept.add(`f${lane}`, 1, job(), '7.000', 0)
  expect(kept.ranges(0).length).toBe(2 + 3 * 16 + 5 * 48)
})

test.each([
  { level: 4 },
  { staleAtMs: 9 },
  { reserveForSeconds: 9 },
  { lock: { key: 'k', forMs: 9, until: 'start' } },
])('a job that the store has to look at is not kept: %j', (more) => {
  kept.add('mail', 1, { ...job(), ...more } as NewJob, '7.000', 0)
  expect(kept.ranges(0)).toEqual([])
})
