import { LaneNames, totalsOf, type LaneCounts, type Scheduler } from '@crossgear/core-scheduler'
import type { Metric } from 'prom-client'
import { expect, test } from 'vitest'
import { Info } from '../../../src/doors/faktory/info.ts'
import { gearmanFigures } from '../../../src/operations/metrics/figures/gearman-figures.ts'
import { storeFigures } from '../../../src/operations/metrics/figures/store-figures.ts'
import { BoundedLabels } from '../../../src/operations/metrics/labels.ts'
import { takeSnapshot } from '../../../src/operations/metrics/store-snapshot.ts'
import { inTurns } from '../../support/in-turns.ts'

const lanes = 65_000
/** Lanes in one turn of the event loop, some 2 us each. */
const maxPerTurn = 1_000

const registry = { names: new LaneNames(), all: () => [] }
const counts = Array.from({ length: lanes }, (_none, at): LaneCounts => {
  const lane = `f${at}@q${at % 7}`
  return {
    lane,
    high: 0,
    normal: 2,
    low: 1,
    running: 1,
    scheduled: 0,
    dead: 0,
    workers: 1,
    ...totalsOf(() => 0),
    submitted: 4,
    completed: 1,
    retrying: 0,
    isRemoved: false,
    openness: 'auto',
    oldestMs: undefined,
  }
})
const scheduler = {
  registry,
  jobs: {
    counts: () => Promise.resolve(counts),
    formerTotals: () => Promise.resolve(totalsOf(() => 0)),
  },
  nodes: new Map<string, number>(),
  queues: { holdsBack: () => false },
  storeNowMs: () => 1_700_000_000_000,
  tasks: { of: () => ({ cycles: 0, wallMs: 0 }), expired: 0 },
} as unknown as Scheduler

async function sumOf(figures: readonly Metric[], name: string): Promise<number> {
  const read = await Promise.all(figures.map((figure) => figure.get()))
  const { values } = read.find((one) => one.name === name)!
  return values.reduce((sum, { value }) => sum + value, 0)
}

test(`figures of ${lanes} lanes are computed in pieces, so that the event loop stays responsive`, async () => {
  const info = new Info({
    scheduler,
    version: '0',
    uptimeMs: () => 0,
    connections: () => 0,
    commands: () => 0,
    workers: () => 0,
    reapedWorkers: () => 0,
    memoryBytes: () => 0,
  })
  const snapshot = await takeSnapshot(scheduler, 0)
  const labels = { functions: new BoundedLabels(500), queues: new BoundedLabels(500) }
  const json = await inTurns(lanes / maxPerTurn, () => info.json())
  expect(JSON.parse(json)).toMatchObject({ faktory: { total_enqueued: 3 * lanes } })
  await inTurns(lanes / maxPerTurn, () => takeSnapshot(scheduler, 0))
  const ofStore = await inTurns(lanes / maxPerTurn, () => storeFigures(snapshot, labels))
  expect(await sumOf(ofStore, 'crossgear_jobs')).toBe(4 * lanes)
  const own = new BoundedLabels(500)
  const gearman = await inTurns(lanes / maxPerTurn, () =>
    gearmanFigures({ snapshot, labels: own, version: '1' }),
  )
  expect(await sumOf(gearman, 'gearman_jobs_running')).toBe(lanes)
})
