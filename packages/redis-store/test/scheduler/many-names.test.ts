import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { beforeEach, describe, expect, test } from 'vitest'
import type { IdleWorker, Step } from '@crossgear/core-scheduler'
import { notingSteps, Cluster, type TestNode } from './harness.ts'

const namesEach = 1_000
const consumers = 40

/** Bytes of the heap that are in use. */
function liveBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}

describe('a consumer of queues that nobody has pushed to', () => {
  let cluster: Cluster
  let node: TestNode
  let steps: Step[]
  beforeEach(async () => {
    cluster = new Cluster()
    steps = []
    node = await cluster.node('a', {}, notingSteps(steps))
    await cluster.turn()
    steps.splice(0)
  })

  test('asks the store for none of them, and gets the first job that comes', async () => {
    const consumer = node.consumer('one', 'two').take()
    expect(consumer.nothings).toBe(1)
    await cluster.turn()
    expect(steps.flatMap(({ claims }) => claims)).toEqual([])
    consumer.takesWhenWoken = true
    consumer.sleep()
    await node.submitted('mail@two', { door: 'faktory' })
    expect(consumer.jobs).toEqual(['mail@two:1'])
  })

  test('asks for those alone that somebody has pushed to', async () => {
    await node.submitted('mail@two', { door: 'faktory' })
    await node.consumer('one', 'two', 'three').taken()
    const [claim] = steps.flatMap(({ claims }) => claims)
    expect(claim?.groups).toEqual([{ queue: 'two', lanes: ['mail@two'] }])
  })

  test('costs little more than the names while it waits, and nothing afterwards', async () => {
    const before = liveBytes()
    const idle: IdleWorker[] = []
    for (let at = 0; at < consumers; at += 1) {
      const queues = Array.from({ length: namesEach }, (_, n) => `${at}-${n}-`.padEnd(200, 'x'))
      const subscription = node.scheduler.consumerSubscription(queues)
      const worker: IdleWorker = { subscription, wake: () => undefined }
      idle.push(worker)
      node.scheduler.addIdle(worker, false, true)
    }
    await cluster.turn()
    const names = consumers * namesEach
    expect((liveBytes() - before) / names).toBeLessThan(450)
    for (const worker of idle.splice(0)) node.scheduler.removeIdle(worker)
    await cluster.turn()
    expect((liveBytes() - before) / names).toBeLessThan(30)
  })
})
