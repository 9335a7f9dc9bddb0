import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { versionCases } from './cases/versions.ts'
import { startCrossgear } from './support/crossgear.ts'
import { play } from './support/play.ts'

const assigned = /^\d+ worker JOB_ASSIGN [^|]+\|[^|]+\|(.*)$/

/** The other side of these cases, 1.1 beside the real gearmand, is in wire.test.ts. */
describe.skipIf(lacksRedis)('gearmand 2.0, by its documented rules', () => {
  let redis: RedisServer

  beforeAll(async () => {
    redis = await RedisServer.start()
  })
  afterAll(() => redis.stop())

  for (const script of versionCases) {
    test.each([1, 2] as const)(`${script.name}, %i node(s)`, async (nodeCount) => {
      const server = await startCrossgear(redis, nodeCount, { ...script.flags, version: '2.0' })
      try {
        const transcript = await play(script, server)
        const given = transcript.flatMap((line) => assigned.exec(line)?.[1] ?? [])
        expect(given, transcript.join('\n')).toEqual(script.in20)
      } finally {
        await server.stop()
      }
    })
  }
})
