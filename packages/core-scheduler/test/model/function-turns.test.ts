import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FunctionTurns } from '../../src/model/function-turns.ts'

describe('turns of functions', () => {
  test('are in the order of the functions at first', () => {
    expect(new FunctionTurns(4).places).toEqual([0, 1, 2, 3])
    expect(new FunctionTurns(0).places).toEqual([])
  })

  test('put the one that had its turn behind all others, which keep their order', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(fc.nat(11)), (size, hadTurns) => {
        const turns = new FunctionTurns(size)
        let expected = Array.from({ length: size }, (_none, at) => at)
        for (const had of hadTurns.map((place) => place % size)) {
          turns.passOn(had)
          expected = [...expected.filter((place) => place !== had), had]
          expect(turns.places).toEqual(expected)
        }
      }),
    )
  })
})
