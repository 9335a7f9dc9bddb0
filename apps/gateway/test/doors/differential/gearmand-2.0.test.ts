import { sampleOf } from '@crossgear/tools/sample'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { cases } from './cases/index.ts'
import { httpCases } from './http/cases.ts'
import { expectKnown } from './http/expect-known.ts'
import { improvements } from './improvements.ts'
import { startCrossgear } from './support/crossgear.ts'
import { differences } from './support/differences.ts'
import { exchange } from './support/http-exchange.ts'
import { play } from './support/play.ts'
import { differingIn20, partsByDay, recordingOf } from './support/recorded.ts'
import { against } from './support/server.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'

const recording = recordingOf('2.0')
const differing = differingIn20().cases
const differs = ({ name }: { readonly name: string }): boolean => name in differing
/** Of cases that are not in the recording 1.1 is compared alone. */
const recorded = cases.filter(({ name }) => name in recording.cases)
const same = recorded.filter((script) => !differs(script))
const recordedHttp = httpCases.filter(({ name }) => name in recording.http)

test('the differences of gearmand 2.0 from 1.1 are cases that are recorded of both', () => {
  const { cases: ofFirst } = recordingOf('1.1')
  expect(recorded.filter(differs)).toHaveLength(Object.keys(differing).length)
  for (const [name, { transcript }] of Object.entries(differing)) {
    expect(transcript).not.toEqual(ofFirst[name]?.transcript)
  }
})

describe.skipIf(lacksRedis)('beside gearmand 2.0, as recorded', () => {
  const redis = redisOfSuite()
  const played = [...recorded.filter(differs), ...sampleOf(same, partsByDay)]

  for (const script of played) {
    test(script.name, async () => {
      const gearmand = recording.cases[script.name]?.transcript ?? []
      const flags = { ...script.flags, version: '2.0' } as const
      const improvement = improvements[script.name]
      const expected = improvement?.mendedIn20 ? undefined : improvement
      const crossgear = await against(startCrossgear(redis(), 1, flags), (server) =>
        play(script, server),
      )
      expect(differences(gearmand, crossgear)).toEqual({
        gearmand: expected?.gearmand ?? [],
        crossgear: expected?.crossgear ?? [],
      })
    })
  }

  for (const script of sampleOf(recordedHttp, partsByDay)) {
    test(`HTTP: ${script.name}`, async () => {
      const starting = startCrossgear(redis(), 1, { http: true, version: '2.0' })
      const crossgear = await against(starting, (server) => exchange(script, server))
      expectKnown(script, recording.http[script.name]?.transcript ?? [], crossgear)
    })
  }
})
