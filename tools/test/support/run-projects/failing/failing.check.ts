import { describe, expect, test } from 'vitest'
import { declareDeep } from './declared.ts'

test('passes', () => expect(1).toBe(1))

describe('a suite', () => {
  test('with a test that fails', () => {
    expect('what came').toBe('what was expected')
  })
})

declareDeep(30)
