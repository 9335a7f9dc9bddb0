import { sampleOf } from '@crossgear/tools/sample'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { improvements } from '../improvements.ts'
import type { Case } from '../script.ts'
import { startCrossgear } from './crossgear.ts'
import { differences, improved } from './differences.ts'
import { startGearmand } from './gearmand.ts'
import { play } from './play.ts'
import { answersTo, partsByDay, recordingByDay } from './recorded.ts'
import { against } from './server.ts'
import { redisOfSuite } from '../../../support/redis-of-suite.ts'

const arrangements = [
  { title: 'one node', nodeCount: 1 },
  { title: 'clients on one node, workers on the other', nodeCount: 2 },
] as const

/**
 * Compares one node and two of Crossgear with what gearmand was recorded to answer to a sample of the cases. At night, and
 * where the file is played by itself, all cases are played against gearmand, too, if it is installed.
 */
export function compareAll(cases: readonly Case[]): void {
  const recording = recordingByDay()?.cases
  const byGearmand = answersTo(recording, (script: Case) =>
    against(startGearmand(script.flags ?? {}), (server) => play(script, server)),
  )
  const all = arrangements.flatMap(({ title, nodeCount }) =>
    cases
      .filter(({ oneNode }) => nodeCount === 1 || oneNode === undefined)
      // A case that came after the recording is played beside a real gearmand only.
      .filter(({ name }) => recording === undefined || name in recording)
      .map((script) => ({ name: `${title}: ${script.name}`, nodeCount, script })),
  )

  describe.skipIf(lacksRedis)('beside gearmand, or what it was recorded to answer', () => {
    const redis = redisOfSuite()

    for (const { name, nodeCount, script } of sampleOf(all, partsByDay)) {
      test(name, async () => {
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
  })
}
