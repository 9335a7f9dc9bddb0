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
  for (let id = 1; id <= 5; id += 1) kept.add('mail', id, job(), '7.000', 0)
  expect(kept.bytes).toBe(3 * bytesOfOne)
  expect(kept.firsts(0)).toEqual([['mail', 3]])
})

test('a job is kept for 10 s', () => {
  kept.add('mail', 1, job(), '7.000', 0)
  kept.add('mail', 2, job(), '7.000', 6_000)
  expect(kept.firsts(9_999)).toEqual([['mail', 1]])
  expect(kept.firsts(10_000)).toEqual([['mail', 2]])
  expect(kept.firsts(16_000)).toEqual([])
  expect(kept.bytes).toBe(0)
})

test('nothing is kept for a while of a lane into which others submit', () => {
  kept.add('mail', 1, job(), '7.000', 0)
  kept.missed('mail', 0)
  kept.add('mail', 2, job(), '7.000', 5_000)
  expect(kept.firsts(5_000)).toEqual([])
  kept.add('mail', 3, job(), '7.000', 10_000)
  expect(kept.firsts(10_000)).toEqual([['mail', 3]])
})

test('a step names no more than 64 lanes', () => {
  kept = new KeptJobs()
  for (let lane = 0; lane < 100; lane += 1) kept.add(`f${lane}`, 1, job(), '7.000', 0)
  expect(kept.firsts(0).length).toBe(64)
})
