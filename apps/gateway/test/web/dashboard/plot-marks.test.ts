import { expect, test } from 'vitest'
import { brief, duration, rate } from '../../../dashboard/format.js'
import { digitsOf, spanOf, timeOf, timeSteps } from '../../../dashboard/parts/plot-marks.js'

/** Labels of the marks of an axis, as a plot asks for them. */
function labelsOf(format: (value: number, digits: number) => string, step: number, last: number) {
  const marks = Array.from({ length: Math.round(last / step) + 1 }, (_none, at) => at * step)
  return marks.map((value) => format(value, digitsOf(step)))
}

test('marks of an axis are not rounded', () => {
  expect(labelsOf(rate, 0.25, 1)).toEqual(['0/s', '0.25/s', '0.50/s', '0.75/s', '1.00/s'])
  expect(labelsOf(duration, 2.5, 12.5)).toContain('12.5 s')
  expect(labelsOf(brief, 250_000, 1_500_000)).toContain('1.25M')
})

test.each([
  ['rates', rate, -4, 50],
  ['durations', duration, -4, 50],
  ['counts', brief, -2, 5_000_000],
] as const)('no two marks of %s read alike, whatever their step is', (_name, format, min, max) => {
  for (const digit of [1, 2, 2.5, 5]) {
    for (let power = min; digit * 10 ** power * 5 <= max; power += 1) {
      const step = digit * 10 ** power
      const labels = labelsOf(format, step, step * 5)
      expect([step, new Set(labels).size]).toEqual([step, labels.length])
    }
  }
})

test('no two marks of time read alike, and a plot of one moment has several', () => {
  for (const step of timeSteps) {
    const marks = Array.from({ length: 4 }, (_none, at) => timeOf(1_700_000_000 + at * step, step))
    expect([step, new Set(marks).size]).toEqual([step, 4])
  }
  expect(spanOf(50, 50)).toEqual([40, 50])
  expect(spanOf(0, 3600)).toEqual([0, 3600])
})
