import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ListOrders } from '../../../src/web/api/reads/list-orders.ts'
import { sortedInPieces } from '../../../src/in-pieces.ts'
import { inTurns } from '../../support/in-turns.ts'

interface Entry {
  readonly name: string
  readonly load: number
}
const byName = (one: Entry, other: Entry): number => (one.name < other.name ? -1 : 1)
const figures = { load: ({ load }: Entry) => load }

test('sorting in pieces gives the result of Array.sort, with equal rows in order', async () => {
  const rows = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 2_500, maxLength: 5_500 })
  await fc.assert(
    fc.asyncProperty(rows, async (numbers) => {
      const pairs = numbers.map((number, at) => ({ number, at }))
      const compare = (one: { number: number }, other: { number: number }) =>
        one.number - other.number
      expect(await sortedInPieces(pairs, compare)).toEqual(pairs.toSorted(compare))
    }),
    { numRuns: 20 },
  )
  expect(await sortedInPieces([], () => 0)).toEqual([])
})

test('a long list is sorted in pieces, so that the event loop stays responsive', async () => {
  const lanes = 65_000
  const entries = Array.from({ length: lanes }, (_none, at) => {
    return { name: `f${(at * 7_919) % lanes}`, load: at % 3 }
  })
  const orders = new ListOrders({ entries, byName, figures })
  const sorted = await inTurns(lanes / 1_000, () => orders.get({ sort: 'load', order: 'desc' }))
  expect(sorted.slice(0, 2)).toEqual(
    entries
      .filter(({ load }) => load === 2)
      .toSorted(byName)
      .slice(0, 2),
  )
  // Made once for all who ask.
  expect(await orders.get({ sort: 'load', order: 'desc' })).toBe(sorted)
})
