import type { Scheduler, TimedJob, TimedRequest } from '@crossgear/core-scheduler'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JobScan } from '../../../src/web/api/reads/job-scan.ts'
import { TimedJobs } from '../../../src/web/api/reads/timed-jobs.ts'

/** Dead jobs of a lane, the time of each; the lane's number is its position. */
type Lanes = readonly (readonly number[])[]

/** A store of these jobs, which counts what each look at their times returns. */
function timedJobs(lanes: Lanes) {
  const sizes: number[] = []
  const names = lanes.map((_times, at) => `fn-${at}`)
  const numberOf = (lane: string): number => names.indexOf(lane)
  const all = (lane: string) =>
    (lanes[numberOf(lane)] ?? []).map((atMs, id) => ({ lane, id, atMs })).sort(byTime)
  const timed = ({ lanes: asked, perLane, after }: TimedRequest) => {
    const found = asked.flatMap((lane) => {
      const jobs = all(lane)
      const own = jobs.findIndex(({ id }) => lane === after?.lane && id === after.id)
      const isBehind = ({ atMs }: TimedJob): boolean =>
        !after || atMs > after.atMs || (atMs === after.atMs && !after.isPast(lane))
      return (own === -1 ? jobs.filter(isBehind) : jobs.slice(own + 1)).slice(0, perLane)
    })
    sizes.push(found.length)
    return Promise.resolve(found)
  }
  const scheduler = {
    inspect: { timed },
    registry: { numberOf, refOf: (number: number, id: number) => ({ lane: names[number], id }) },
    jobs: {
      counts: (some: readonly string[]) =>
        Promise.resolve(some.map((lane) => ({ lane, dead: all(lane).length }))),
      lookAll: (lane: string, ids: readonly number[]) =>
        Promise.resolve(ids.map((id) => ({ lane, id, status: 'error' }))),
    },
    storeNowMs: () => 0,
  }
  const scan = { lanesOf: () => names }
  return {
    jobs: new TimedJobs(scheduler as unknown as Scheduler, scan as unknown as JobScan),
    sizes,
  }
}

const byTime = (one: TimedJob, other: TimedJob): number =>
  one.atMs - other.atMs || one.id - other.id

test('jobs of many functions come in the order of their times, each once, whatever their number in each', async () => {
  const times = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 130 })
  await fc.assert(
    fc.asyncProperty(fc.array(times, { minLength: 1, maxLength: 12 }), async (lanes) => {
      const { jobs } = timedJobs(lanes)
      const listed: (readonly [number, string, number])[] = []
      let cursor: string | null | undefined
      while (cursor !== null) {
        const page = await jobs.piece({ state: 'dead' }, 'asc', 64, cursor)
        for (const { job, placed } of page.found) {
          listed.push([placed.atMs ?? 0, job.lane, job.id])
        }
        ;({ cursor } = page)
      }
      const numberOf = (lane: string): number => Number(lane.slice('fn-'.length))
      const whole = lanes
        .flatMap((own, at) => own.map((atMs, id) => [atMs, `fn-${at}`, id] as const))
        .sort(
          (one, other) =>
            one[0] - other[0] || numberOf(one[1]) - numberOf(other[1]) || one[2] - other[2],
        )
      expect(listed).toEqual(whole)
    }),
    { numRuns: 60 },
  )
})

test('a page of many functions reads little more than its jobs, in each look', async () => {
  const lanes = Array.from({ length: 100 }, (_none, lane) =>
    Array.from({ length: 1_000 }, (_job, at) => 1 + at * 100 + lane),
  )
  const { jobs, sizes } = timedJobs(lanes)
  expect((await jobs.piece({ state: 'dead' }, 'asc', 50)).found).toHaveLength(50)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000)
})
