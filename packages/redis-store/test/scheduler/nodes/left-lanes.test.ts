import { beforeEach, describe, expect, test, vi } from 'vitest'
import { StoreError, type Reclaimed } from '@crossgear/core-scheduler'
import { Cluster, type TestClient, type TestNode } from '../harness.ts'

const left = new StoreError('REFUSED', 'WRONGTYPE')

describe('a node that stands still while another reclaims it', () => {
  let cluster: Cluster
  let frozen: TestNode
  let other: TestNode
  let client: TestClient
  let thaw: () => void

  /** The frozen node has a client and a worker of `mail`, and a job of `bad`. */
  beforeEach(async () => {
    cluster = new Cluster()
    frozen = await cluster.node('frozen')
    other = await cluster.node('other')
    client = frozen.ask('mail')
    frozen.submit('bad')
    frozen.scheduler.countNamed('mail', 1)
    await cluster.turn()
    const beat = vi.spyOn(frozen.store.nodes, 'beat')
    beat.mockRejectedValue(new StoreError('TIMEOUT', 'frozen'))
    thaw = () => beat.mockRestore()
  })

  /** From now on the lane `bad` is refused; returns the lanes of each call. */
  function refuseBad(): { readonly asked: string[][]; readonly mend: () => void } {
    const { nodes } = other.store
    const reclaim = nodes.reclaim.bind(nodes)
    const asked: string[][] = []
    const spy = vi.spyOn(nodes, 'reclaim')
    spy.mockImplementation(async (node, lanes, loss): Promise<Reclaimed> => {
      asked.push([...lanes].sort())
      const some = lanes.filter((lane) => lane !== 'bad')
      const refused = new Map(some.length < lanes.length ? [['bad', left]] : [])
      return { ...(await reclaim(node, some, loss)), refused }
    })
    return { asked, mend: () => spy.mockRestore() }
  }

  const workers = async (): Promise<number | undefined> =>
    (await other.scheduler.jobs.counts(['mail']))[0]?.workers

  async function expectNothingLost(): Promise<void> {
    expect(await workers()).toBe(1)
    const worker = await other.worker('mail').taken()
    expect(worker.jobs).toEqual(['mail:1'])
    await worker.completed('done')
    expect(client.events).toEqual(['mail:1 complete done'])
  }

  test('counts its clients again with the first beat, before anybody claims their jobs', async () => {
    await cluster.pass(6_000)
    thaw()
    while ((await other.store.nodes.beat()).heartbeats.get('frozen') === undefined) {
      await cluster.pass(10)
    }
    await cluster.turn()
    await expectNothingLost()
  })

  test('has its workers and clients again although a lane was left', async () => {
    refuseBad()
    await cluster.pass(6_000)
    expect(await workers()).toBe(0)
    thaw()
    await cluster.pass(3_000)
    await expectNothingLost()
    const beat = await frozen.store.nodes.beat()
    expect(beat.wasReset).toBe(false)
  })

  test('has them again although the other died half way', async () => {
    const third = await cluster.node('third')
    vi.spyOn(other.store.nodes, 'endReclaim').mockImplementation(async () => {
      await other.crash()
      throw left
    })
    vi.spyOn(third.store.nodes, 'declareDead').mockImplementation((node) =>
      Promise.resolve(node !== 'frozen'),
    )
    await cluster.pass(5_000)
    thaw()
    await cluster.pass(1_500)
    vi.restoreAllMocks()
    other = third
    await expectNothingLost()
    await cluster.pass(8_000)
    expect((await frozen.store.nodes.beat()).wasReset).toBe(false)
  })

  test('is reclaimed in that lane alone when it stays dead, until nothing is left', async () => {
    const { asked, mend } = refuseBad()
    await cluster.pass(6_000)
    expect(asked.slice(0, 3)).toEqual([['bad', 'mail'], ['bad'], ['bad']])
    expect(other.scheduler.nodes.has('frozen')).toBe(true)
    expect(other.observer.errors).toContain('dead nodes')
    mend()
    await cluster.pass(2_000)
    expect(other.scheduler.nodes.has('frozen')).toBe(false)
  })
})
