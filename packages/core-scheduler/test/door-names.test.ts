import { expect, test } from 'vitest'
import { isDoorName } from '../src/model/job.ts'

test.each(['gearman', 'echo', 'a', 'amqp-1', 'x'.repeat(32)])(
  '%j may be the name of a door',
  (name) => {
    expect(isDoorName(name)).toBe(true)
  },
)

test.each(['', 'native', 'Echo', '1st', '-a', 'a_b', 'a b', 'a\n', 'é', 'x'.repeat(33)])(
  '%j may not',
  (name) => {
    expect(isDoorName(name)).toBe(false)
  },
)
