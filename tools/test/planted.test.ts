import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PlantedFault } from '../planted/planted-fault.ts'
import { misfitOf, readTable, repeatedNames } from '../planted/table.ts'
import { newCheckout, row } from './support/small-checkout.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('the table', () => {
  let faults: readonly PlantedFault[] = []
  beforeAll(async () => {
    faults = await readTable()
  })

  test('has rows that fit the sources', () => {
    const misfits = faults.map((fault) => [fault.name, misfitOf(fault, root)])
    expect(misfits.filter(([, misfit]) => misfit !== undefined)).toEqual([])
    expect(faults.length).toBeGreaterThan(0)
  })

  test('has names that are unique and in kebab-case', () => {
    expect(repeatedNames(faults)).toEqual([])
    expect(faults.filter(({ name }) => !/^[a-z\d]+(?:-[a-z\d]+)*$/.test(name))).toEqual([])
  })
})

describe('a row', () => {
  test.each([
    [{ file: 'src/none.ts' }, 'there is no src/none.ts'],
    [{ from: 'left' }, 'its text stands 2 times in src/sum.ts'],
    [{ from: 'middle' }, 'its text stands 0 times in src/sum.ts'],
    [{ to: 'left + right' }, 'it changes nothing'],
    [{ test: 'test/none.test.ts' }, 'there is no test/none.test.ts'],
    [{ testName: 'three' }, 'no test in test/sum.test.ts is named "three"'],
  ])('with %o does not fit', (change, misfit) => {
    const checkout = newCheckout()
    expect(misfitOf(row, checkout)).toBeUndefined()
    expect(misfitOf({ ...row, ...change }, checkout)).toBe(misfit)
  })
})
