import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { faults } from '../planted/faults.ts'

const root = new URL('../../../', import.meta.url)

test.each(faults.map((fault) => [fault.name, fault] as const))(
  'the planted fault %s fits the sources',
  (_name, { file, from, to }) => {
    expect(readFileSync(new URL(file, root), 'utf8').split(from)).toHaveLength(2)
    expect(to).not.toBe(from)
  },
)

test('each planted fault has a name of its own', () => {
  expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length)
})
