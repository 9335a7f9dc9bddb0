import { expect, test } from 'vitest'
import { fullScale, quickScale } from '../../bench/bench.ts'
import { helpText, parseCommandLine, UsageError } from '../../bench/command-line.ts'
import { rowGroups } from '../../bench/rows/index.ts'

const known = ['foreground', 'background', 'latency']

test('without options every row is measured at full scale', () => {
  expect(parseCommandLine([], known)).toMatchObject({
    rows: known,
    scale: fullScale,
    json: undefined,
    page: undefined,
  })
})

test('selected rows keep the order of the table', () => {
  expect(parseCommandLine(['--rows', 'latency,foreground'], known).rows).toEqual([
    'foreground',
    'latency',
  ])
})

test('a number of rounds counts more than --quick', () => {
  const { scale } = parseCommandLine(['--quick', '--rounds', '7'], known)
  expect(scale).toEqual({ ...quickScale, rounds: 7 })
})

test.each([['--rows', 'speed'], ['--rounds', '0'], ['--rounds', 'x'], ['--fast'], ['word']])(
  'an invalid option is a usage error: %s %s',
  (...words) => {
    expect(() => parseCommandLine(words, known)).toThrow(UsageError)
  },
)

test('the help names every row group', () => {
  const names = rowGroups.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(helpText(names)).toContain(name)
})
