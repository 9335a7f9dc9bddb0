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
import { recordingOf } from './support/recorded.ts'
import { against } from './support/server.ts'
import { redisOfSuite } from '../support/redis-of-suite.ts'

const recording = recordingOf('2.0')

/** Of cases that are not in the recording 1.1 is compared alone. */
const isRecorded = ({ name }: { readonly name: string }): boolean => name in recording.cases

describe.skipIf(lacksRedis)('beside gearmand 2.0, as recorded', () => {
  const redis = redisOfSuite()

  test.each(cases.filter(isRecorded))('$name', async (script) => {
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

  const recordedHttp = httpCases.filter(({ name }) => name in recording.http)
  test.each(recordedHttp)('HTTP: $name', async (script) => {
    const starting = startCrossgear(redis(), 1, { http: true, version: '2.0' })
    const crossgear = await against(starting, (server) => exchange(script, server))
    expectKnown(script, recording.http[script.name]?.transcript ?? [], crossgear)
  })
})
