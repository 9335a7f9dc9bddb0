import { beforeEach, describe, expect, test } from 'vitest'
import { Cluster, type TestNode } from './harness.ts'

describe('a node that drains', () => {
  let cluster: Cluster
  let node: TestNode

  beforeEach(async () => {
    cluster = new Cluster()
    node = await cluster.node('node')
  })

  test('wakes no worker that becomes idle: it would ask in vain, again and again', async () => {
    await node.submitted('mail')
    node.scheduler.drain()
    const worker = await node.worker('mail').taken()
    worker.sleep(true)
    await cluster.pass(3_000)
    expect([worker.nothings, worker.wakes]).toEqual([1, 0])
  })

  test('wakes no idle worker, and leaves new jobs to those of other nodes', async () => {
    const other = await cluster.node('other')
    const workers = [node.worker('mail').sleep(), other.worker('mail').sleep()]
    await cluster.turn()
    node.scheduler.drain()
    node.submit('mail')
    await cluster.pass(3_000)
    expect(workers.map(({ wakes }) => wakes > 0)).toEqual([false, true])
  })
})
