import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, test } from 'vitest'
import { httpCases, type HttpCase } from './http/cases.ts'
import { expectKnown } from './http/expect-known.ts'
import { startCrossgear } from './support/crossgear.ts'
import { lacksGearmand, startGearmand } from './support/gearmand.ts'
import { exchange } from './support/http-exchange.ts'
import { answersTo, recordingOf } from './support/recorded.ts'
import { against } from './support/server.ts'
import { redisOfSuite } from '../support/redis-of-suite.ts'

const flags = { http: true } as const
const recording = lacksGearmand ? recordingOf('1.1').http : undefined

describe.skipIf(lacksRedis)('HTTP, beside gearmand or what it was recorded to answer', () => {
  const redis = redisOfSuite()
  const byGearmand = answersTo(recording, (script: HttpCase) =>
    against(startGearmand(flags), (server) => exchange(script, server)),
  )

  describe.each([
    ['on one node', 1],
    ['requests at one node, workers at the other', 2],
  ] as const)('%s', (_where, nodeCount) => {
    test.each(httpCases)('$name', async (script) => {
      const gearmand = await byGearmand(script)
      const crossgear = await against(startCrossgear(redis(), nodeCount, flags), (server) =>
        exchange(script, server),
      )
      expectKnown(script, gearmand, crossgear)
    })
  })
})
