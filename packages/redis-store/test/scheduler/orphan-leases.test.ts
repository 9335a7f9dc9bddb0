import { describe, expect, test } from 'vitest'
import { bytes, Cluster } from './harness.ts'

describe('an orphaned lease', () => {
  test('goes back if it is found orphaned twice, a minute apart', async () => {
    const cluster = new Cluster()
    const node = await cluster.node('a')
    node.submit('mail')
    await node.submitted('mail')
    const held = await node.worker('mail').taken()
    // As if the store had lost how this job ended.
    await node.store.steps.claim({ by: 'named', groups: [{ lanes: ['mail'] }], max: 1 })
    await cluster.pass(61_000)
    const other = await node.worker('mail').taken()
    expect(other.jobs).toEqual([])
    await cluster.pass(61_000)
    await other.taken()
    expect(other.jobs).toEqual(['mail:2'])
    node.scheduler.complete(held.last, bytes('done'))
    await cluster.turn()
    expect((await node.store.lanes.counts(['mail']))[0]).toMatchObject({ completed: 1, running: 1 })
  })
})
