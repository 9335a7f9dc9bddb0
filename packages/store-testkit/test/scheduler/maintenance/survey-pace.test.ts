import { describe, expect, test } from 'vitest'
import { Cluster } from '../harness.ts'
import type { MemoryNode } from '../../../src/index.ts'

describe('the walk through all jobs', () => {
  const pagesPerLap = 10
  const jobsPerPage = 1_000

  /** A store with full pages, that counts those asked for. */
  function paged(pages: { asked: number }): (store: MemoryNode) => MemoryNode {
    return (store) => {
      store.native.survey = () => {
        pages.asked += 1
        const lapEnded = pages.asked % pagesPerLap === 0
        return Promise.resolve({ jobs: jobsPerPage, unsettled: [], suspicious: [], lapEnded })
      }
      return store
    }
  }

  async function pagesIn(beats: number, cluster: Cluster, pages: { asked: number }) {
    const before = pages.asked
    await cluster.pass(1_000 * beats)
    return pages.asked - before
  }

  test('checks 2,000 a second twice, then 500 a second', async () => {
    const cluster = new Cluster()
    const pages = { asked: 0 }
    await cluster.node('a', {}, paged(pages))
    await cluster.pass(12_000)
    expect(pages.asked).toBeGreaterThanOrEqual(2 * pagesPerLap)
    expect(await pagesIn(20, cluster, pages)).toBe(10)
  })

  test('checks 2,000 a second while a native worker is counted', async () => {
    const cluster = new Cluster()
    const pages = { asked: 0 }
    const node = await cluster.node('a', {}, paged(pages))
    node.submit('mail')
    await cluster.world.native.count('mail', 1)
    await cluster.pass(12_000)
    expect(await pagesIn(5 * pagesPerLap, cluster, pages)).toBe(10 * pagesPerLap)
  })
})
