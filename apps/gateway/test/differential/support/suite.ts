import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { improvements } from '../improvements.ts'
import type { Case } from '../script.ts'
import { startCrossgear } from './crossgear.ts'
import { differences, improved } from './differences.ts'
import { lacksGearmand, startGearmand } from './gearmand.ts'
import { play } from './play.ts'
import { answersTo, recordingOf } from './recorded.ts'
import { against } from './server.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'

const arrangements = [
  { title: 'one node', nodeCount: 1 },
  { title: 'clients on one node, workers on the other', nodeCount: 2 },
] as const

/**
 * Plays each case once against gearmand and against one node and two of Crossgear, and compares. Where gearmand is not
 * installed, its recorded answers take its place.
 */
export function compareAll(cases: readonly Case[]): void {
  const recording = lacksGearmand ? recordingOf('1.1').cases : undefined
  const byGearmand = answersTo(recording, (script: Case) =>
    against(startGearmand(script.flags ?? {}), (server) => play(script, server)),
  )

  describe.skipIf(lacksRedis).each(arrangements)(
    'beside gearmand, or what it was recorded to answer: $title',
    ({ nodeCount }) => {
      const redis = redisOfSuite()

      for (const script of cases) {
        if (nodeCount > 1 && script.oneNode !== undefined) continue
        // A case that came after the recording is played beside a real gearmand only.
        if (recording && !(script.name in recording)) continue
        test(script.name, async () => {
          const gearmand = await byGearmand(script)
          const improvement = improvements[script.name]
          const expected = improved(gearmand, improvement)
          const starting = startCrossgear(redis(), nodeCount, script.flags ?? {})
          const crossgear = await against(starting, (server) => play(script, server, expected))
          expect(differences(gearmand, crossgear)).toEqual({
            gearmand: improvement?.gearmand ?? [],
            crossgear: improvement?.crossgear ?? [],
          })
        })
      }
    },
  )
}
