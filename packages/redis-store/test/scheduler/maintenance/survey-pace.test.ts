import { describe, expect, test } from 'vitest'
import { Cluster } from '../harness.ts'
import type { RedisStore } from '../../../src/index.ts'

describe('the walk through all jobs', () => {
  const pagesPerLap = 10
  const jobsPerPage = 1_000

  interface Pages {
    asked: number
    jobs: number
  }

  /** A store with full pages, or with as many jobs as asked for, that counts them. */
  function paged(pages: Pages): (store: RedisStore) => RedisStore {
    return (store) => {
      store.native.survey = (_remember, most) => {
        const max = most ?? jobsPerPage
        pages.asked += 1
        pages.jobs += max
        const lapEnded = pages.asked % pagesPerLap === 0
        return Promise.resolve({ jobs: max, unsettled: [], suspicious: [], lapEnded })
      }
      return store
    }
  }

  async function jobsIn(beats: number, cluster: Cluster, pages: Pages): Promise<number> {
    const before = pages.jobs
    await cluster.pass(1_000 * beats)
    return pages.jobs - before
  }

  test('checks 4 a second at rest', async () => {
    const cluster = new Cluster()
    const pages = { asked: 0, jobs: 0 }
    await cluster.node('a', {}, paged(pages))
    expect(await jobsIn(20, cluster, pages)).toBe(4 * 20)
  })

  test('checks 2,000 a second for two laps after each act of a native worker', async () => {
    const cluster = new Cluster()
    const pages = { asked: 0, jobs: 0 }
    const node = await cluster.node('a', {}, paged(pages))
    node.submit('mail')
    node.submit('mail')
    await cluster.world.native.count('mail', 1)
    // The first of the two may have begun before.
    const jobsOfLaps = (pagesPerLap + 1) * jobsPerPage
    expect(await jobsIn(3 * pagesPerLap, cluster, pages)).toBeGreaterThanOrEqual(jobsOfLaps)
    expect(await jobsIn(20, cluster, pages)).toBe(4 * 20)
    const id = (await cluster.world.native.take('mail')) ?? 0
    expect(await jobsIn(3 * pagesPerLap, cluster, pages)).toBeGreaterThanOrEqual(jobsOfLaps)
    expect(await jobsIn(20, cluster, pages)).toBe(4 * 20)
    await cluster.world.native.finish('mail', id, 'success', Buffer.from('out'))
    expect(await jobsIn(3 * pagesPerLap, cluster, pages)).toBeGreaterThanOrEqual(jobsOfLaps)
  })
})
