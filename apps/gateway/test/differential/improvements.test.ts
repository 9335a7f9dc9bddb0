import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { cases } from './cases/index.ts'
import { improvements } from './improvements.ts'

const page = new URL('../../../../docs/gearman.md', import.meta.url)

/** The rows of the table under the heading, as the texts of their cells. */
function rowsOf(text: string): readonly (readonly string[])[] {
  const [, section = ''] = text.split('## Where Crossgear does better\n')
  const rows = section.split('\n').filter((line) => line.startsWith('|'))
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}

describe('the differences from gearmand', () => {
  test('are in the documentation, each with its reason, and nothing else is', () => {
    const listed = improvements.map(({ name, reason }) => [name, reason])
    expect(rowsOf(readFileSync(page, 'utf8'))).toEqual(listed)
  })

  test('are each a case', () => {
    const names = cases.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const { name } of improvements) expect(names).toContain(name)
  })

  test('are few among the cases', () => {
    expect(cases.length).toBeGreaterThan(300)
    expect(improvements.length).toBeLessThan(cases.length / 10)
  })
})
