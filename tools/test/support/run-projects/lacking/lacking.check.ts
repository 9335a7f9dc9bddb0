import { describe, expect, test } from 'vitest'
import { lacks } from '../../../../testing/lacks.ts'

const lacksOne = lacks('no-such-program', '--version')
const lacksOther = lacks('no-other-program', '--version')

test('runs', () => expect(lacks('node', '--version')).toBe(false))

describe.skipIf(lacksOne)('a suite', { timeout: 1_000 }, () => {
  test.each(['one', 'two'])('with test %s', () => expect(lacksOne).toBe(false))
  describe('and an inner one', () => {
    test('with a test', () => expect(lacksOne).toBe(false))
  })
})

describe.skipIf(lacksOne || lacksOther).each([1, 2])('a suite for %i', () => {
  test('has a test', () => expect(lacksOne).toBe(false))
})

test.skipIf(lacksOther)('a test', () => expect(lacksOther).toBe(false))
test.skipIf(process.platform !== 'aix')('for another reason', () => expect(1).toBe(2))
