import { beforeEach, describe, expect, test } from 'vitest'
import { StoreError, type StoreListener } from '@crossgear/core-scheduler'
import { Cluster, type TestNode } from '../harness.ts'

describe('a node whose store was away', () => {
  let cluster: Cluster
  let node: TestNode
  let listener: StoreListener

  /** Another node opens a lane and queues a job there, of which this node hears nothing. */
  beforeEach(async () => {
    cluster = new Cluster()
    node = await cluster.node('node')
    const other = await cluster.node('other')
    listener = node.store.events.listener!
    listener.down('a cut line')
    node.store.events.listener = undefined
    await other.scheduler.openLane('new')
    other.submit('new')
    await cluster.turn()
    node.store.events.listener = listener
  })

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
    const consumer = node.consumer('default').take()
    await cluster.turn()
    return consumer.jobs
  }

  test('learns what happened meanwhile', async () => {
    listener.up()
    await cluster.turn()
    expect(await fetches()).toEqual(['new:1'])
  })

  test('checks again if it could not at once', async () => {
    failAtFirst(2)
    listener.up()
    await cluster.pass(3_000)
    expect(await fetches()).toEqual(['new:1'])
  })
})
