import { beforeEach, describe, expect, test } from 'vitest'
import { Cluster, type TestNode } from '../harness.ts'

describe('a node that nobody knows any more', () => {
  let cluster: Cluster
  let living: TestNode

  /** It has a worker and holds a job, and the store has no heartbeat of it. */
  beforeEach(async () => {
    cluster = new Cluster()
    living = await cluster.node('living')
    living.submit('mail')
    living.scheduler.countNamed('mail', 1)
    await cluster.turn()
    const ghost = cluster.world.join('ghost')
    await ghost.lanes.setWorkers(new Map([['mail', { named: 1, consumers: 0 }]]))
    await ghost.steps.claim({ by: 'named', groups: [{ lanes: ['mail'] }], max: 1 })
    cluster.world.beats.delete('ghost')
    cluster.world.deaths.delete('ghost')
  })

  const counts = async () => (await living.scheduler.jobs.counts(['mail']))[0]

  test('loses its workers and jobs within a minute, and others keep theirs', async () => {
    expect(await counts()).toMatchObject({ workers: 2, running: 1 })
    await cluster.pass(60_000)
    expect(await counts()).toMatchObject({ workers: 1, running: 0, normal: 1 })
    expect(cluster.world.deaths.size).toBe(0)
  })

  test('keeps them if it is back in time', async () => {
    await cluster.pass(15_000)
    cluster.world.beats.set('ghost', cluster.world.nowMs())
    await cluster.pass(2_000)
    expect(await counts()).toMatchObject({ workers: 2, running: 1 })
  })
})
