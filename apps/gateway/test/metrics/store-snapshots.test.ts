import { LaneNames, totalsOf, type Scheduler } from '@crossgear/core-scheduler'
import { expect, test } from 'vitest'
import { LatestView } from '../../src/api/reads/snapshot-view.ts'
import { StoreSnapshots } from '../../src/ops/metrics/store-snapshot.ts'

/** Counts the looks at the store; the test moves the clock. */
function startSnapshots() {
  const looks = { counts: 0, backlogs: 0 }
  let nowMs = 0
  const registry = { names: new LaneNames(), all: () => [] }
  const counted = (what: keyof typeof looks) => () => {
    looks[what] += 1
    return Promise.resolve([])
  }
  const scheduler = {
    ...{ registry, nodes: new Map(), queues: { holdsBack: () => false }, storeNowMs: () => nowMs },
    jobs: {
      counts: counted('counts'),
      backlogs: counted('backlogs'),
      formerTotals: () => Promise.resolve(totalsOf(() => 0)),
    },
  } as unknown as Scheduler
  const snapshots = new StoreSnapshots(scheduler, () => nowMs)
  return { looks, snapshots, view: new LatestView(snapshots), pass: (ms: number) => (nowMs += ms) }
}

test('a scrape shares the figures that the API and the event stream read within a second', async () => {
  const { looks, snapshots, view, pass } = startSnapshots()
  const first = await view.get()
  pass(999)
  expect(await view.get()).toBe(first)
  expect(await snapshots.backlog()).toBe(first.snapshot)
  expect(looks).toEqual({ counts: 1, backlogs: 0 })
  pass(1)
  expect(await view.get()).not.toBe(first)
  expect(looks).toEqual({ counts: 2, backlogs: 0 })
})

test('without viewers a scrape reads only the figures that it shows, once a second for all pages', async () => {
  const { looks, snapshots, pass } = startSnapshots()
  const both = await Promise.all([snapshots.backlog(), snapshots.backlog()])
  expect(both[0]).toBe(both[1])
  pass(1_000)
  await snapshots.backlog()
  expect(looks).toEqual({ counts: 0, backlogs: 2 })
})
