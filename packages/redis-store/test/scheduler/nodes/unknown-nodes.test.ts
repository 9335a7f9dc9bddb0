import { beforeEach, describe, expect, test } from 'vitest'
import type { RedisStore } from '../../../src/index.ts'
import { Cluster, keys, type TestNode } from '../harness.ts'

describe('a node that nobody knows any more', () => {
  let cluster: Cluster
  let living: TestNode
  let ghost: RedisStore

  /** The node has a worker and holds a job, and the store has no heartbeat of it. */
  beforeEach(async () => {
    cluster = new Cluster()
    living = await cluster.node('living')
    living.submit('mail')
    living.scheduler.countNamed('mail', 1)
    await cluster.turn()
    ghost = await cluster.world.node({ nodeName: 'ghost' })
    await ghost.lanes.setWorkers(new Map([['mail', { named: 1, consumers: 0 }]]))
    await ghost.steps.claim({ by: 'named', groups: [{ lanes: ['mail'] }], max: 1 })
    await cluster.world.server.zrem(keys.nodes, 'ghost')
  })

  const counts = async () => (await living.scheduler.jobs.counts(['mail']))[0]

  test('loses its workers and jobs within a minute, and others keep theirs', async () => {
    expect(await counts()).toMatchObject({ workers: 2, running: 1 })
    await cluster.pass(60_000)
    expect(await counts()).toMatchObject({ workers: 1, running: 0, normal: 1 })
    expect(await cluster.world.server.exists(keys.deaths)).toBe(0)
  })

  test('keeps them if it is back in time', async () => {
    await cluster.pass(15_000)
    await ghost.nodes.beat()
    await cluster.pass(2_000)
    expect(await counts()).toMatchObject({ workers: 2, running: 1 })
  })
})
