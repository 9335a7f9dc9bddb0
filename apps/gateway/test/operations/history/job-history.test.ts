import type { EndedRun, Lease } from '@crossgear/core-scheduler'
import { LaneNames } from '@crossgear/core-scheduler'
import { ManualClock } from '@crossgear/core-scheduler/manual-clock'
import { StoreError, type HistoryStore } from '@crossgear/core-scheduler'
import { expect, test } from 'vitest'
import {
  historyEveryMs,
  JobHistory,
  namedEvery,
} from '../../../src/operations/history/job-history.ts'
import { functionsPerRound, storedRun } from '../../../src/operations/history/latest-runs.ts'
import { namedBounds } from '../../../src/operations/history/named-counts.ts'
import { openStoreInProcess } from '../../support/store-in-process.ts'
import { bucketOf, percentileSeconds } from '../../../src/operations/history/time-buckets.ts'

async function startHistory() {
  const clock = new ManualClock(1_700_000_000_000)
  const { store } = await openStoreInProcess(() => clock.nowMs())
  let isAway = false
  const link: HistoryStore = {
    add: (...words) =>
      isAway ? Promise.reject(new StoreError('UNREACHABLE', 'away')) : store.history.add(...words),
    read: (...words) => store.history.read(...words),
    addRuns: (...words) =>
      isAway
        ? Promise.reject(new StoreError('UNREACHABLE', 'away'))
        : store.history.addRuns(...words),
    runs: (fn) => store.history.runs(fn),
  }
  const errors: unknown[] = []
  const history = new JobHistory({
    clock,
    names: new LaneNames(),
    onError: (task) => errors.push(task),
  })
  history.start(link, { storeNowMs: () => clock.nowMs() })
  return {
    clock,
    history,
    errors,
    setAway: (away: boolean) => (isAway = away),
    runs: async (fn: string) => (await store.history.runs(fn)).map((text) => storedRun(text)),
    /** All sums of the hour. */
    sums: async (of?: string) =>
      Object.fromEntries((await store.history.read('hour', clock.nowMs(), of))[0]?.sums ?? []),
  }
}

const aRun = (end: EndedRun['end'], runMs?: number): EndedRun => ({
  lane: 'f',
  id: 1,
  door: 'gearman',
  by: 'named',
  end,
  token: 'n1',
  ...(runMs !== undefined && { runMs }),
})

test('counts are added every ten seconds', async () => {
  const { clock, history, sums } = await startHistory()
  history.counted('f', 'submitted')
  history.counted('f', 'submitted')
  history.assigned({ lane: 'f', waitedMs: 3 } as Lease)
  history.ended(aRun('completed', 100))
  history.ended(aRun('failed'))
  expect(await sums()).toEqual({})
  await clock.advance(historyEveryMs)
  const first = {
    submitted: 2,
    completed: 1,
    failed: 1,
    [`wait:${bucketOf(3)}`]: 1,
    [`run:${bucketOf(100)}`]: 1,
  }
  expect(await sums()).toEqual(first)
  history.ended(aRun('completed'))
  await clock.advance(historyEveryMs)
  expect(await sums()).toEqual({ ...first, completed: 2 })
  await history.stop()
  history.ended(aRun('completed'))
  await clock.advance(historyEveryMs)
  expect(await sums()).toEqual({ ...first, completed: 2 })
})

test('counts that the store refused are added later', async () => {
  const { clock, setAway, history, errors, sums } = await startHistory()
  history.counted('f', 'submitted')
  history.ended(aRun('retried', 5))
  setAway(true)
  await clock.advance(historyEveryMs)
  expect(errors).toEqual(['history'])
  setAway(false)
  history.counted('f', 'submitted')
  await clock.advance(historyEveryMs)
  expect(await sums()).toEqual({ submitted: 2, retried: 1, [`run:${bucketOf(5)}`]: 1 })
  await history.stop()
})

test('counts of functions and queues are added once a minute, and when the gateway stops', async () => {
  const { clock, setAway, history, sums } = await startHistory()
  history.counted('mail', 'submitted')
  history.counted('mail@bulk', 'submitted')
  history.ended({ ...aRun('completed', 100), lane: 'mail@bulk' })
  await clock.advance((namedEvery - 1) * historyEveryMs)
  expect(await sums('f:mail')).toEqual({})
  setAway(true)
  await clock.advance(historyEveryMs)
  setAway(false)
  history.counted('mail', 'submitted')
  await clock.advance(namedEvery * historyEveryMs)
  expect(await sums('f:mail')).toEqual({ submitted: 3, completed: 1, [`run:${bucketOf(100)}`]: 1 })
  expect(await sums('q:bulk')).toEqual({ submitted: 1, completed: 1, [`run:${bucketOf(100)}`]: 1 })
  expect(await sums('q:default')).toEqual({ submitted: 2 })
  history.counted('mail', 'submitted')
  await history.stop()
  expect(await sums('f:mail')).toMatchObject({ submitted: 4 })
})

test('a node keeps the history of a bounded number of functions; one unused for a day gives its place up', async () => {
  const { clock, history, sums } = await startHistory()
  for (let at = 0; at <= namedBounds.f; at += 1) history.counted(`f${at}`, 'submitted')
  await clock.advance(namedEvery * historyEveryMs)
  expect(await sums(`f:f${namedBounds.f - 1}`)).toEqual({ submitted: 1 })
  expect(await sums(`f:f${namedBounds.f}`)).toEqual({})
  expect(await sums()).toEqual({ submitted: namedBounds.f + 1 })
  await clock.advance(25 * 3_600_000)
  history.counted(`f${namedBounds.f}`, 'submitted')
  await clock.advance(namedEvery * historyEveryMs)
  expect(await sums(`f:f${namedBounds.f}`)).toEqual({ submitted: 1 })
  await history.stop()
})

test('percentiles are as exact as their buckets', () => {
  expect(percentileSeconds(new Map(), 0.5)).toBeUndefined()
  const counts = new Map<number, number>()
  for (let ms = 1; ms <= 1000; ms += 1)
    counts.set(bucketOf(ms), (counts.get(bucketOf(ms)) ?? 0) + 1)
  for (const share of [0.01, 0.5, 0.95, 0.99, 1]) {
    const seconds = percentileSeconds(counts, share) ?? 0
    expect(seconds).toBeGreaterThan(share / Math.SQRT2)
    expect(seconds).toBeLessThan(share * Math.SQRT2)
  }
  expect([bucketOf(0), bucketOf(Number.NaN), bucketOf(1e12)]).toEqual([0, 0, 48])
})

test('the last 100 runs of a function are stored, over its queues, with what went wrong', async () => {
  const { clock, history, runs } = await startHistory()
  for (let id = 1; id <= 250; id += 1) history.ended({ ...aRun('completed', 5), id })
  await clock.advance(historyEveryMs)
  const stored = await runs('f')
  expect(stored.map((run) => run?.id)).toEqual(Array.from({ length: 100 }, (_, at) => 151 + at))
  const report = { errtype: 'IOError', message: 'disk full\nat line 1' }
  history.ended({ ...aRun('died'), lane: 'f@bulk', id: 7, report })
  await clock.advance(historyEveryMs)
  const latest = (await runs('f')).at(-1)
  expect(latest).toEqual({
    lane: 'f@bulk',
    id: 7,
    end: 'died',
    by: 'named',
    endedMs: clock.nowMs() - historyEveryMs,
    type: 'IOError',
    line: 'disk full',
  })
  expect(await runs('f')).toHaveLength(100)
})

test('runs that a store away does not take, or of too many functions, are stored by the next round', async () => {
  const { clock, history, runs, setAway } = await startHistory()
  setAway(true)
  for (let fn = 0; fn <= functionsPerRound; fn += 1) {
    history.ended({ ...aRun('completed', 5), lane: `f${fn}` })
  }
  await clock.advance(historyEveryMs)
  setAway(false)
  await clock.advance(historyEveryMs)
  expect(
    [await runs('f0'), await runs(`f${functionsPerRound}`)].map(({ length }) => length),
  ).toEqual([1, 0])
  await clock.advance(historyEveryMs)
  expect(await runs(`f${functionsPerRound}`)).toHaveLength(1)
})
