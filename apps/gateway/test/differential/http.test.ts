import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { httpCases, type HttpCase } from './http/cases.ts'
import { httpImprovements } from './http/improvements.ts'
import { startCrossgear } from './support/crossgear.ts'
import { lacking } from './support/differences.ts'
import { lacksGearmand, startGearmand } from './support/gearmand.ts'
import { exchange } from './support/http-exchange.ts'
import { recordingOf } from './support/recorded.ts'
import type { Server } from './support/server.ts'
import { redisOfSuite } from '../support/redis-of-suite.ts'

const flags = { http: true } as const
const recording = lacksGearmand ? recordingOf('1.1') : undefined

describe.skipIf(lacksRedis)('HTTP, beside gearmand or what it was recorded to answer', () => {
  const redis = redisOfSuite()
  const exchanged = new Map<HttpCase, Promise<readonly string[]>>()
  const byGearmand = (script: HttpCase): Promise<readonly string[]> => {
    const recorded = recording?.http[script.name]?.transcript
    const lines =
      exchanged.get(script) ??
      (recorded ? Promise.resolve(recorded) : playAgainst(script, startGearmand(flags)))
    exchanged.set(script, lines)
    return lines
  }

  describe.each([
    ['on one node', 1],
    ['requests at one node, workers at the other', 2],
  ] as const)('%s', (_where, nodeCount) => {
    test.each(httpCases)('$name', async (script) => {
      const known = httpImprovements.find(({ name }) => name === script.name)
      const gearmand = await byGearmand(script)
      const crossgear = await playAgainst(script, startCrossgear(redis(), nodeCount, flags))
      expect({
        gearmand: lacking(gearmand, crossgear),
        crossgear: lacking(crossgear, gearmand),
      }).toEqual({ gearmand: known?.gearmand ?? [], crossgear: known?.crossgear ?? [] })
    })
  })
})

async function playAgainst(script: HttpCase, starting: Promise<Server>) {
  const server = await starting
  try {
    return await exchange(script, server)
  } finally {
    await server.stop()
  }
}
