import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { cases } from './cases/index.ts'
import { httpCases } from './http/cases.ts'
import { httpImprovements } from './http/improvements.ts'
import { improvements } from './improvements.ts'
import { startCrossgear } from './support/crossgear.ts'
import { differences, lacking } from './support/differences.ts'
import { exchange } from './support/http-exchange.ts'
import { play } from './support/play.ts'
import { recordingOf } from './support/recorded.ts'
import { redisOfSuite } from '../support/redis-of-suite.ts'

const recording = recordingOf('2.0')
const byName = new Map(improvements.map((improvement) => [improvement.name, improvement]))
const httpByName = new Map(httpImprovements.map((improvement) => [improvement.name, improvement]))

/** Of cases that are not in the recording 1.1 is compared alone. */
const isRecorded = ({ name }: { readonly name: string }): boolean => name in recording.cases

describe.skipIf(lacksRedis)('beside gearmand 2.0, as recorded', () => {
  const redis = redisOfSuite()

  test.each(cases.filter(isRecorded))('$name', async (script) => {
    const gearmand = recording.cases[script.name]?.transcript ?? []
    const flags = { ...script.flags, version: '2.0' } as const
    const server = await startCrossgear(redis(), 1, flags)
    try {
      const improvement = byName.get(script.name)
      const isMended = improvement?.mendedIn20 ?? false
      const found = differences(gearmand, await play(script, server))
      expect(found).toEqual({
        gearmand: isMended ? [] : (improvement?.gearmand ?? []),
        crossgear: isMended ? [] : (improvement?.crossgear ?? []),
      })
    } finally {
      await server.stop()
    }
  })

  const recordedHttp = httpCases.filter(({ name }) => name in recording.http)
  test.each(recordedHttp)('HTTP: $name', async (script) => {
    const gearmand = recording.http[script.name]?.transcript ?? []
    const server = await startCrossgear(redis(), 1, { http: true, version: '2.0' })
    try {
      const known = httpByName.get(script.name)
      const crossgear = await exchange(script, server)
      expect({
        gearmand: lacking(gearmand, crossgear),
        crossgear: lacking(crossgear, gearmand),
      }).toEqual({ gearmand: known?.gearmand ?? [], crossgear: known?.crossgear ?? [] })
    } finally {
      await server.stop()
    }
  })
})
