import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { cases } from './cases/index.ts'
import { httpCases } from './http/cases.ts'
import { httpImprovements } from './http/improvements.ts'
import { improvements } from './improvements.ts'

const page = new URL('../../../../../docs/bridge/gearman.md', import.meta.url)

/** The rows of the table under the heading, as the texts of their cells. */
function rowsUnder(heading: string): readonly (readonly string[])[] {
  const [, rest = ''] = readFileSync(page, 'utf8').split(`## ${heading}\n`)
  const [section = ''] = rest.split('\n## ', 1)
  const rows = section.split('\n').filter((line) => line.startsWith('|'))
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}

describe.each([
  ['Where Crossgear does better', improvements, cases, 300],
  ['Where the HTTP port does better', httpImprovements, httpCases, 30],
] as const)('the differences from gearmand: %s', (heading, differing, all, min) => {
  test('are in the documentation, each with its reason, and nothing else is', () => {
    const listed = Object.entries(differing).map(([name, { reason }]) => [name, reason])
    expect(rowsUnder(heading)).toEqual(listed)
  })

  test('are each a case', () => {
    const names = all.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(names).toEqual(expect.arrayContaining(Object.keys(differing)))
  })

  test('are few among many cases', () => {
    expect(all.length).toBeGreaterThan(min)
    expect(Object.keys(differing).length).toBeLessThan(all.length / 2)
  })
})
