import { expect, test } from 'vitest'

/** Declares a test as deep in helpers as those of a contract are. */
export function declareDeep(depth: number): void {
  if (depth > 0) {
    declareDeep(depth - 1)
    return
  }
  test('declared by a helper', () => {
    expect('what a helper saw').toBe('what it expected')
  })
}
