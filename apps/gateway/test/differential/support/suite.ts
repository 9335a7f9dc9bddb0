import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { improvements } from '../improvements.ts'
import type { Case } from '../script.ts'
import { startCrossgear } from './crossgear.ts'
import { differences, improved } from './differences.ts'
import { lacksGearmand, startGearmand } from './gearmand.ts'
import { play, type Transcript } from './play.ts'
import { recordingOf } from './recorded.ts'
import type { Server } from './server.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'

const known = new Map(improvements.map((improvement) => [improvement.name, improvement]))

const arrangements = [
  { title: 'one node', nodeCount: 1 },
  { title: 'clients on one node, workers on the other', nodeCount: 2 },
] as const

/**
 * Plays each case once against gearmand and against one node and two of Crossgear, and compares. Where gearmand is not
 * installed, its recorded answers take its place.
 */
export function compareAll(cases: readonly Case[]): void {
  const played = new Map<Case, Promise<Transcript>>()
  const recording = lacksGearmand ? recordingOf('1.1').cases : undefined
  const byGearmand = (script: Case): Promise<Transcript> => {
    const recorded = recording?.[script.name]?.transcript
    const transcript =
      played.get(script) ??
      (recorded
        ? Promise.resolve(recorded)
        : playAgainst(script, startGearmand(script.flags ?? {})))
    played.set(script, transcript)
    return transcript
  }

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
          const improvement = known.get(script.name)
          const expected = improved(gearmand, improvement)
          const starting = startCrossgear(redis(), nodeCount, script.flags ?? {})
          const crossgear = await playAgainst(script, starting, expected)
          expect(differences(gearmand, crossgear)).toEqual({
            gearmand: improvement?.gearmand ?? [],
            crossgear: improvement?.crossgear ?? [],
          })
        })
      }
    },
  )
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
