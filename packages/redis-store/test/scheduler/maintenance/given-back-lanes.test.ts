import { maxLanes } from '@crossgear/core-scheduler'
import { beforeEach, expect, test } from 'vitest'
import { Cluster, keys, type TestNode } from '../harness.ts'

let cluster: Cluster
let here: TestNode
let there: TestNode

beforeEach(async () => {
  cluster = new Cluster()
  here = await cluster.node('here')
  there = await cluster.node('there')
})

const lanesOf = ({ scheduler }: TestNode): string[] => [...scheduler.registry.all()].sort()

test('a FLUSH gives back lanes at every node, but for those with workers or limits', async () => {
  for (const lane of ['mail', 'mail@bulk', 'limited', 'worked']) here.submit(lane)
  await cluster.turn()
  await here.scheduler.admin.setLimits('limited', { high: 0, normal: 2, low: 0 })
  there.scheduler.countNamed('worked', 1)
  await cluster.pass(2_000)
  const flushing = here.scheduler.queues.flush()
  await cluster.turn()
  await flushing
  expect([lanesOf(here), lanesOf(there)]).toEqual([
    ['limited', 'worked'],
    ['limited', 'worked'],
  ])
})

test(`a lane that is given back makes room for another where there are ${maxLanes}`, async () => {
  await cluster.world.server.set(keys.laneNumber, maxLanes)
  for (let number = 1; number <= maxLanes; number += 1) {
    void cluster.world.server.hset(keys.lanes, `f${number}`, number)
    for (const { scheduler } of [here, there]) scheduler.registry.add(`f${number}`, number)
  }
  const refused = await here.submitted('one-more')
  expect(refused.refusal?.code).toBe('TOO_MANY_LANES')
  await there.store.lanes.giveBack(['f7'], { unusedMs: 0, emptiedMs: 0, keptMs: 0 })
  await cluster.turn()
  const accepted = await here.submitted('one-more')
  expect(accepted.result).toEqual({ kind: 'created', id: 1 })
})
