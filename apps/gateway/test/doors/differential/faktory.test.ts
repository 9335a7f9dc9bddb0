import { readFileSync } from 'node:fs'
import { sampleOf } from '@crossgear/tools/sample'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/doors/net/clock.ts'
import { faktoryGateways } from '../faktory/support/faktory-gateway.ts'
import { differences, reasons } from './faktory/differences.ts'
import { play } from './faktory/play.ts'
import { recordedCases } from './faktory/recording.ts'

const patienceMs = 40_000
/** How long a FETCH waits: the recorded server waits 2 s. Nothing is in a hurry where a case waits for it to get a job. */
const fetchBlocksMs = { usually: 900, forAJob: patienceMs }
/** Cases that take as long as a clock of the server are played nightly. */
const withSlowCases = process.env['SLOW_RECORDINGS'] !== undefined
const all = recordedCases().filter(({ slow }) => withSlowCases || slow === undefined)
const cases = sampleOf(all, 8)

describe.skipIf(lacksRedis)('beside Faktory 1.10.0, as recorded', () => {
  const gateways = faktoryGateways()

  test.each(cases)('$case', { timeout: 240_000 }, async (recorded) => {
    const { password } = recorded.server ?? {}
    const { steps } = recorded
    const comesToNothing = steps.some(({ expect: replies }) => replies?.includes('$-1'))
    const isForAJob = !comesToNothing && steps.some(({ wait }) => wait !== undefined)
    const { port } = await gateways.open({
      clock: systemClock,
      fetchBlocksMs: fetchBlocksMs[isForAJob ? 'forAJob' : 'usually'],
      ...(password !== undefined && { password }),
    })
    const found = await play(recorded, port, patienceMs * (recorded.slow === undefined ? 1 : 3))
    const known = Object.values(differences[recorded.case] ?? {})
    // Keys that are integers come in their order.
    const expected = Object.entries(Object.assign({}, ...known) as Record<string, string>)
    expect(found.map(({ step, crossgear }) => [String(step), crossgear])).toEqual(expected)
  })
})

test('the page of the Faktory port lists all that differs on purpose, and no more', () => {
  const page = readFileSync(
    new URL('../../../../../docs/bridge/faktory.md', import.meta.url),
    'utf8',
  )
  const [, section = ''] = page.split('## Differences from the Faktory server\n')
  const rows = (section.split('\n## ')[0] ?? '').matchAll(/^\| (.*?) +\| (.*?) +\|$/gm)
  const listed = [...rows].slice(2).map(([, here, there]) => ({ here, there }))
  expect(listed).toEqual(Object.values(reasons))
  const given = Object.values(differences).flatMap((known) => Object.keys(known))
  expect(new Set(given)).toEqual(new Set(Object.keys(reasons)))
})
