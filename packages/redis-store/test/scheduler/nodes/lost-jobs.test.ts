import { beforeEach, describe, expect, test } from 'vitest'
import type { LaneArrivals, LaneSubmitted } from '@crossgear/core-scheduler'
import { aroundSteps, Cluster, type TestNode } from '../harness.ts'

describe('a client whose job the store has lost', () => {
  let cluster: Cluster
  let node: TestNode

  beforeEach(async () => {
    cluster = new Cluster()
    // A store that came back from an older state gives the ids since then again.
    node = await cluster.node('a', {}, (store) =>
      aroundSteps(store, async (step, send) => {
        const created = ({ jobs }: LaneArrivals): LaneSubmitted => ({
          results: jobs.map(() => ({ kind: 'created', id: 1 })),
          isPublished: true,
          isOpen: true,
        })
        const answer = await send({ ...step, submissions: [] })
        return { ...answer, submissions: step.submissions.map(created) }
      }),
    )
  })

  test('gets a failure when another job reuses its id', async () => {
    const lost = await node.asked('mail')
    const client = await node.asked('mail')
    expect(lost.events).toEqual(['mail:1 fail'])
    expect(client.events).toEqual([])
  })

  test('gets a failure even if that job has no waiting client', async () => {
    const lost = await node.asked('mail')
    await node.submitted('mail')
    expect(lost.events).toEqual(['mail:1 fail'])
  })
})
