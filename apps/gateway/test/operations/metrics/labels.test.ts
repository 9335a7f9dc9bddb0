import { LaneNames } from '@crossgear/core-scheduler'
import { expect, test } from 'vitest'
import { BoundedLabels } from '../../../src/operations/metrics/labels.ts'
import { Metrics } from '../../../src/operations/metrics/metrics.ts'
import { figuresOf, metricsPage } from '../../support/metrics-page.ts'

const names = Array.from({ length: 600 }, (_, index) => `f${index}`)

test('500 names have their own labels, and the others are counted', () => {
  const labels = new BoundedLabels(500)
  const given = [...names, ...names].map((name) => labels.of(name))
  expect(new Set(given)).toEqual(new Set([...names.slice(0, 500), 'other']))
  expect(labels.folded).toBe(100)
})

test('a name keeps its label while it exists, and frees it for another afterwards', () => {
  const labels = new BoundedLabels(500)
  for (const name of names) labels.of(name)
  expect(labels.prune((name) => name !== 'f0')).toEqual(['f0'])
  const own = names.toReversed().filter((name) => labels.of(name) === name)
  expect(own).toHaveLength(500)
  expect(own).toEqual(expect.arrayContaining(names.slice(1, 500)))
  expect(labels.of('f0')).toBe('other')
})

test('the counters of a deleted function go with its label', async () => {
  const metrics = new Metrics({ functions: 1, names: new LaneNames() })
  metrics.jobs.submitted('a', 'gearman', 'created')
  metrics.jobs.submitted('b@bulk', 'gearman', 'created')
  const shown = async () =>
    (await metricsPage(figuresOf(metrics))).match(/^crossgear_jobs_submitted_total.*$/gm)
  expect(await shown()).toEqual([
    'crossgear_jobs_submitted_total{function="a",door="gearman"} 1',
    'crossgear_jobs_submitted_total{function="other",door="gearman"} 1',
  ])
  metrics.pruneLabels((fn) => fn === 'b')
  metrics.jobs.submitted('b@bulk', 'gearman', 'created')
  expect(await shown()).toEqual([
    'crossgear_jobs_submitted_total{function="other",door="gearman"} 1',
    'crossgear_jobs_submitted_total{function="b",door="gearman"} 1',
  ])
})
