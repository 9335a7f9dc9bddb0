import { describe, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { flagOf, type OptionName } from '../../../src/config/options.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'
import { ownProcessCases } from './cases/own-process.ts'

const cases = ownProcessCases(redisOfSuite({ isEmptied: true }))

// The other options have their cases in `observed.test.ts`, which also sees that each option has one.
describe.skipIf(lacksRedis)('each option that only a process of its own shows', () => {
  for (const [name, look] of Object.entries(cases))
    test(`${flagOf(name as OptionName)} changes what is seen`, look)
})
