import { expect, test } from 'vitest'
import { atLeast, atMost, below, judge } from '../../bench/report/figures.ts'
import { mergeHistograms, percentile } from '../../bench/report/histogram.ts'
import { ratiosOf, spreadOf } from '../../bench/report/statistics.ts'

test('a spread does not depend on the order of its figures', () => {
  expect(spreadOf([3, 100, 1])).toEqual({ median: 3, min: 1, max: 100 })
  expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, min: 1, max: 4 })
})

test('a spread of nothing is no number', () => {
  expect(spreadOf([]).median).toBeNaN()
})

test('a ratio is taken of two figures of the same round', () => {
  expect(ratiosOf([10, 30], [20, 10])).toEqual([0.5, 3])
})

test('merged histograms count the values of each', () => {
  const merged = mergeHistograms([
    [
      [100, 1],
      [300, 2],
    ],
    [
      [100, 4],
      [200, 1],
    ],
  ])
  expect(merged).toEqual([
    [100, 5],
    [200, 1],
    [300, 2],
  ])
})

test('a percentile is the value that its share does not exceed', () => {
  const cells = [
    [10, 50],
    [20, 49],
    [1000, 1],
  ] as const
  expect(percentile(cells, 50)).toBe(10)
  expect(percentile(cells, 51)).toBe(20)
  expect(percentile(cells, 99)).toBe(20)
  expect(percentile(cells, 99.9)).toBe(1000)
  expect(percentile([], 50)).toBeNaN()
})

test('a figure that was compared is judged by the median of its ratios', () => {
  const against = { name: 'other', samples: [100, 100, 1] }
  const figure = { name: 'rate', unit: 'jobs/s', ours: [90, 110, 100], against } as const
  expect(judge({ ...figure, target: atLeast(1) })).toMatchObject({
    ratio: { median: 1.1, min: 0.9, max: 100 },
    verdict: 'ok',
  })
  expect(judge({ ...figure, target: atLeast(1.2) }).verdict).toBe('short')
})

test('a figure that stands for itself is judged by its own median, the bound included where it says so', () => {
  const figure = { name: 'share', unit: '%', ours: [2, 2, 9] } as const
  expect(judge({ ...figure, target: atMost(2) }).verdict).toBe('ok')
  expect(judge({ ...figure, target: below(2) }).verdict).toBe('short')
  expect(judge(figure).verdict).toBeUndefined()
})
