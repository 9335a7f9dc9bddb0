import { expect, test } from 'vitest'
import { UsageError } from '../../bench/command-line.ts'
import { judge, atLeast } from '../../bench/report/figures.ts'
import { readPage, replaceResults } from '../../bench/report/page.ts'
import { formatNumber, formatTable } from '../../bench/report/table.ts'
import { formatSelfTimes, selfTimes } from '../../bench/cpu-profile.ts'

test('a number is shown with three significant digits', () => {
  expect([41_234, 0.48123, 13.149, 2, 0].map(formatNumber)).toEqual([
    '41,200',
    '0.481',
    '13.1',
    '2',
    '0',
  ])
  expect(formatNumber(Number.NaN)).toBe('-')
})

test('the columns of the table line up', () => {
  const figures = [
    judge({
      name: 'foreground',
      unit: 'jobs/s',
      ours: [40_000, 42_000],
      against: { name: 'gearmand', samples: [40_000, 40_000] },
      target: atLeast(1),
    }),
    judge({ name: 'start to serving, from nothing', unit: 's', ours: [0.5] }),
  ]
  const lines = formatTable(figures).split('\n')
  expect(lines).toHaveLength(4)
  expect(new Set(lines.map((line) => line.length)).size).toBe(1)
  expect(lines[2]).toContain('41,000 jobs/s (40,000 to 42,000) | 40,000 gearmand')
  expect(lines[2]).toMatch(/1\.02 \(1 to 1\.05\) *\| >= 1 *\| ok/)
  expect(lines[3]).toContain('0.5 s')
})

const begin = '<!-- results: written by npm run bench -- --page -->'
const end = '<!-- end of results -->'

test('new results replace the old ones and nothing else', () => {
  const page = `# Title\n\n${begin}\n\nold\n\n${end}\n\nafter\n`
  expect(replaceResults(page, 'new')).toBe(`# Title\n\n${begin}\n\nnew\n\n${end}\n\nafter\n`)
})

test('a page that is missing, or has no marks, is reported before anything is measured', () => {
  for (const path of ['/nowhere/page.md', import.meta.dirname, 'package.json']) {
    expect(() => readPage(path), path).toThrow(UsageError)
  }
})

test('a page without its marks is not changed', () => {
  expect(() => replaceResults('# Title', 'new')).toThrow('lacks the marks')
})

test('self time is added up by function, idle time left out', () => {
  const frame = (functionName: string, lineNumber: number) => ({
    functionName,
    url: functionName === '(idle)' ? '' : 'file:///somewhere/packages/core/dist/a.js',
    lineNumber,
  })
  const times = selfTimes({
    nodes: [
      { id: 1, callFrame: frame('(idle)', -1) },
      { id: 2, callFrame: frame('claim', 9) },
      { id: 3, callFrame: frame('finish', 19) },
      { id: 4, callFrame: frame('claim', 9) },
    ],
    samples: [1, 2, 3, 4],
    timeDeltas: [5000, 1000, 1000, 2000],
  })
  expect(times.map(({ name, microseconds, share }) => [name, microseconds, share])).toEqual([
    ['claim', 3000, 0.75],
    ['finish', 1000, 0.25],
  ])
  expect(formatSelfTimes(times, 1)).toMatch(
    /75\.0 % +3 ms {2}claim +packages\/core\/dist\/a\.js:10$/,
  )
})
