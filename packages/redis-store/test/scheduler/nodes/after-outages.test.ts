import { beforeEach, describe, expect, test } from 'vitest'
import { StoreError, type StoreListener } from '@crossgear/core-scheduler'
import { Cluster, type TestNode } from '../harness.ts'

describe('a node whose store was away', () => {
  let cluster: Cluster
  let node: TestNode
  let other: TestNode
  let listener: StoreListener

  /** Another node opens a lane and queues a job there, of which this node hears nothing. */
  beforeEach(async () => {
    cluster = new Cluster()
    node = await cluster.node('node')
    other = await cluster.node('other')
    listener = node.listener
    await unheard(async () => {
      listener.down('a cut line')
      await other.scheduler.openLane('new')
      await other.submitted('new')
    })
  })

  /** The node hears nothing of what happens. */
  async function unheard(happen: () => Promise<void>): Promise<void> {
    node.isDeaf = true
    await happen()
    node.isDeaf = false
  }

  /** Makes the first calls of the store fail, this many times. */
  function failAtFirst(times: number): void {
    const lanes = node.store.lanes.all.bind(node.store.lanes)
    let left = times
    node.store.lanes.all = async () => {
      if (left === 0) return lanes()
      left -= 1
      throw new StoreError('TIMEOUT', 'no answer in time')
    }
  }

  async function fetches(): Promise<readonly string[]> {
    const consumer = await node.consumer('default').taken()
    return consumer.jobs
  }

  test('learns what happened meanwhile', async () => {
    listener.up()
    await cluster.turn()
    expect(await fetches()).toEqual(['new:1'])
  })

  test('sends a heartbeat at once, before others take it for dead', async () => {
    const beatMs = async (): Promise<number> =>
      (await other.store.nodes.beat()).heartbeats.get('node') ?? 0
    const lastMs = await beatMs()
    await cluster.pass(300)
    listener.up()
    await cluster.turn()
    expect(await beatMs()).toBeGreaterThanOrEqual(lastMs + 300)
  })

  test('checks again if it could not at once', async () => {
    failAtFirst(2)
    listener.up()
    await cluster.pass(3_000)
    expect(await fetches()).toEqual(['new:1'])
  })

  test('learns what was paused meanwhile', async () => {
    await unheard(() => other.scheduler.queues.pauseFunctions(['new']))
    listener.up()
    await cluster.turn()
    expect(await fetches()).toEqual([])
  })

  test('wakes its idle workers for jobs of that time', async () => {
    const worker = node.worker('new').sleep()
    listener.up()
    await cluster.turn()
    expect(worker.wakes).toBe(1)
  })

  test('brings its clients the progress of that time', async () => {
    listener.up()
    const client = await node.asked('mail')
    const worker = await other.worker('mail').taken()
    await unheard(async () => {
      listener.down('a cut line')
      worker.status('1', '2')
      await cluster.turn()
    })
    expect(client.events).toEqual([])
    listener.up()
    await cluster.turn()
    expect(client.events).toEqual(['mail:1 status 1/2'])
  })
})
