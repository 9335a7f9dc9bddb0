import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { makePlan } from '../src/acts/plan.ts'
import { Selection } from '../src/acts/selection.ts'
import { importIdOf } from '../src/record/identity.ts'
import type { JobRecord } from '../src/record/record.ts'
import type { Page, Source } from '../src/source.ts'

const pageMs = 40

function record(at: number, unique: string): JobRecord {
  return {
    importId: importIdOf('s', `${at}`),
    state: 'queued',
    door: 'gearman',
    fn: 'mail',
    level: 5,
    payload: Buffer.from('x'),
    unique: Buffer.from(unique),
  }
}

/** A source that takes a while for each page. */
function slowSource(pages: readonly (readonly JobRecord[])[]): Source {
  return {
    identity: 's',
    limits: [],
    async *pages(): AsyncGenerator<Page> {
      for (const records of pages) {
        await delay(pageMs)
        yield { records, rejects: [], cursor: '' }
      }
    },
    close: () => Promise.resolve(),
  }
}

test('an estimate adds the time of reading to that of storing at the stated rate', async () => {
  const jobs = Array.from({ length: 30_000 }, (_none, at) => record(at, `u${at}`))
  const source = slowSource([jobs.slice(0, 10_000), jobs.slice(10_000), []])
  const plan = await makePlan(source, new Selection(), {})
  expect(plan.readSeconds).toBeGreaterThan((3 * pageMs) / 1_000 - 0.02)
  expect(plan.assumedRate).toBe(10_000)
  expect(plan.estimatedSeconds).toBe(Math.ceil((plan.readSeconds ?? 0) + 3))
  const slow = await makePlan(source, new Selection(), { ratePerSecond: 100 })
  expect(slow).toMatchObject({ assumedRate: 100 })
  expect(slow.estimatedSeconds).toBeGreaterThanOrEqual(300)
})

test('jobs with one unique id are counted, with the first as an example', async () => {
  const source = slowSource([[record(1, 'a'), record(2, 'b'), record(3, 'b'), record(4, 'a')]])
  const plan = await makePlan(source, new Selection(), {})
  expect(plan).toMatchObject({ jobs: 4, joining: 2, joiningExample: 'mail: b' })
})
