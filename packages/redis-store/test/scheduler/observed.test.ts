import { beforeEach, describe, expect, test } from 'vitest'
import { bytes, Cluster, type TestNode } from './harness.ts'

let cluster: Cluster
let node: TestNode

beforeEach(async () => {
  cluster = new Cluster()
  node = await cluster.node('a')
})

/** The ends of runs that a node has told of. */
const ends = ({ observer }: TestNode) =>
  observer.of('ended').map(({ lane, door, by, end, runMs }) => [lane, door, by, end, runMs])

describe('an observer of a scheduler', () => {
  test('gets the function, both doors and the time of a run', async () => {
    node.submit('mail@bulk', { door: 'faktory', retries: 3 })
    await cluster.pass(40)
    const worker = await node.worker('mail').taken()
    await cluster.pass(2_000)
    await worker.completed('done')
    // The store's date has microseconds.
    expect(node.observer.of('assigned')).toEqual([
      { kind: 'assigned', lane: 'mail@bulk', door: 'faktory', waitMs: expect.closeTo(39.5, 0) },
    ])
    expect(ends(node)).toEqual([['mail@bulk', 'faktory', 'named', 'completed', 2_000]])
  })

  test('gets a failure, a retry and a vanished worker, each as such', async () => {
    node.submit('final')
    node.submit('again', { door: 'faktory', retries: 3 })
    await node.submitted('crash')
    const [final, again, crash] = ['final', 'again', 'crash'].map((fn) => node.worker(fn).take())
    await cluster.turn()
    final?.fail('no')
    again?.fail('not yet')
    crash?.release(true)
    await cluster.turn()
    const told = ends(node).map(([lane, , , end]) => [lane, end])
    expect(Object.fromEntries(told)).toEqual({
      final: 'died',
      again: 'retried',
      crash: 'interrupted',
    })
  })

  test('gets an expired lease as a vanished worker', async () => {
    await node.submitted('mail', { reserveForSeconds: 1 })
    node.consumer('default').take()
    await cluster.pass(10_000)
    expect(ends(node)).toEqual([['mail', 'gearman', 'consumer', 'interrupted', undefined]])
  })

  test('gets a native worker’s success without a time', async () => {
    node.ask('mail')
    await cluster.pass(110)
    const id = (await cluster.world.native.take('mail')) ?? 0
    await cluster.world.native.finish('mail', id, 'success', bytes('done'))
    await cluster.pass(5)
    expect(ends(node)).toEqual([['mail', 'gearman', 'native', 'completed', undefined]])
  })

  test('gets a job that joined another, and one that an operator ended', async () => {
    for (const door of ['gearman', 'http'] as const) {
      node.submit('mail', { door, unique: bytes('once') })
    }
    await cluster.turn()
    expect(await node.scheduler.admin.cancel({ lane: 'mail', id: 1 })).toBe(true)
    expect(await node.scheduler.admin.cancel({ lane: 'mail', id: 2 })).toBe(false)
    const told = node.observer.of('submitted').map(({ door, how }) => [door, how])
    expect(told).toEqual([
      ['gearman', 'created'],
      ['http', 'joined'],
    ])
    expect(node.observer.of('acted')).toEqual([
      { kind: 'acted', lane: 'mail', act: 'cancelled', jobs: 1 },
    ])
  })
})
