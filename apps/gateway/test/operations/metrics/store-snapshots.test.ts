import { LaneNames, totalsOf, type Scheduler } from '@crossgear/core-scheduler'
import { expect, test } from 'vitest'
import { LatestView } from '../../../src/web/api/reads/snapshot-view.ts'
import { MetricsPages } from '../../../src/operations/metrics/metrics-pages.ts'
import { storeSnapshots } from '../../../src/operations/metrics/store-snapshot.ts'

/** Counts the looks at the store; the test moves the clock. */
function startSnapshots() {
  const looks = { counts: 0 }
  let nowMs = 0
  const registry = { names: new LaneNames(), all: () => [] }
  const scheduler = {
    registry,
    nodes: new Map(),
    queues: { holdsBack: () => false },
    storeNowMs: () => nowMs,
    jobs: {
      counts: () => {
        looks.counts += 1
        return Promise.resolve([])
      },
      formerTotals: () => Promise.resolve(totalsOf(() => 0)),
    },
  } as unknown as Scheduler
  const snapshots = storeSnapshots(scheduler, () => nowMs)
  const none = () => Promise.resolve([])
  const store = async () => ({ figures: [], readAtMs: (await snapshots.get()).readAtMs })
  const pages = new MetricsPages({ node: none, gearman: none, faktory: none, store }, () => nowMs)
  return {
    looks,
    snapshots,
    view: new LatestView(snapshots),
    pass: (ms: number) => (nowMs += ms),
    scrape: async (accept?: string) => (await pages.answer('/metrics', accept)).body,
  }
}

test('scrapes, the API and the event stream share one reading of the store within a second', async () => {
  const { looks, snapshots, view, scrape, pass } = startSnapshots()
  const [first, second] = await Promise.all([view.get(), snapshots.get(), scrape()])
  expect(first.snapshot).toBe(second)
  pass(999)
  expect(await view.get()).toBe(first)
  await scrape()
  expect(looks).toEqual({ counts: 1 })
  pass(1)
  expect(await view.get()).not.toBe(first)
  await scrape()
  expect(looks).toEqual({ counts: 2 })
})

test('a scrape shows the age of its figures of the store, in both formats, at the moment of the answer', async () => {
  const { snapshots, scrape, pass } = startSnapshots()
  await snapshots.get()
  pass(200)
  expect(await scrape()).toMatch(/^crossgear_snapshot_age_seconds 0\.2$/m)
  pass(790)
  expect(await scrape()).toMatch(/^crossgear_snapshot_age_seconds 0\.99$/m)
  const open = await scrape('application/openmetrics-text')
  expect(open).toMatch(/^crossgear_snapshot_age_seconds 0\.99\n# EOF\n$/m)
  pass(10)
  // The page was made 800 ms ago: it is kept, but not longer than a second.
  expect(await scrape()).toMatch(/^crossgear_snapshot_age_seconds 1$/m)
  pass(200)
  expect(await scrape()).toMatch(/^crossgear_snapshot_age_seconds 0$/m)
})
