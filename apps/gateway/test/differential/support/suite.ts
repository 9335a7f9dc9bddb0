import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { improvements } from '../improvements.ts'
import type { Case } from '../script.ts'
import { startCrossgear } from './crossgear.ts'
import { differences, improved } from './differences.ts'
import { lacksGearmand, startGearmand } from './gearmand.ts'
import { play, type Transcript } from './play.ts'
import type { Server } from './server.ts'

const known = new Map(improvements.map((improvement) => [improvement.name, improvement]))

/** Plays each case against gearmand and against Crossgear's nodes, and compares. */
export function compareAll(title: string, nodeCount: 1 | 2, cases: readonly Case[]): void {
  describe.skipIf(lacksGearmand || lacksRedis)(`needs gearmand and redis-server: ${title}`, () => {
    let redis: RedisServer

    beforeAll(async () => {
      redis = await RedisServer.start()
    })
    afterAll(() => redis.stop())

    for (const script of cases) {
      test(script.name, { timeout: 30_000 }, async () => {
        const gearmand = await playAgainst(script, startGearmand(script.flags ?? {}))
        const improvement = known.get(script.name)
        const expected = improved(gearmand, improvement)
        const starting = startCrossgear(redis, nodeCount, script.flags ?? {})
        const crossgear = await playAgainst(script, starting, expected)
        expect(differences(gearmand, crossgear)).toEqual({
          gearmand: improvement?.gearmand ?? [],
          crossgear: improvement?.crossgear ?? [],
        })
      })
    }
  })
}

async function playAgainst(
  script: Case,
  starting: Promise<Server>,
  expected?: Transcript,
): Promise<Transcript> {
  const server = await starting
  try {
    return await play(script, server, expected)
  } finally {
    await server.stop()
  }
}
