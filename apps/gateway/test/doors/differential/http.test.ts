import { sampleOf } from '@crossgear/tools/sample'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, test } from 'vitest'
import { httpCases, type HttpCase } from './http/cases.ts'
import { expectKnown } from './http/expect-known.ts'
import { startCrossgear } from './support/crossgear.ts'
import { startGearmand } from './support/gearmand.ts'
import { exchange } from './support/http-exchange.ts'
import { answersTo, partsByDay, recordingByDay } from './support/recorded.ts'
import { against } from './support/server.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'

const flags = { http: true } as const
const recording = recordingByDay()?.http
const all = [1, 2].flatMap((nodeCount) => {
  const where = nodeCount === 1 ? 'on one node' : 'requests at one node, workers at the other'
  return httpCases.map((script) => ({ name: `${where}: ${script.name}`, nodeCount, script }))
})

describe.skipIf(lacksRedis)('HTTP, beside gearmand or what it was recorded to answer', () => {
  const redis = redisOfSuite()
  const byGearmand = answersTo(recording, (script: HttpCase) =>
    against(startGearmand(flags), (server) => exchange(script, server)),
  )

  for (const { name, nodeCount, script } of sampleOf(all, partsByDay)) {
    test(name, async () => {
      const gearmand = await byGearmand(script)
      const crossgear = await against(startCrossgear(redis(), nodeCount, flags), (server) =>
        exchange(script, server),
      )
      expectKnown(script, gearmand, crossgear)
    })
  }
})
