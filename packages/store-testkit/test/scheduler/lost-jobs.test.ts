import { beforeEach, describe, expect, test } from 'vitest'
import { Cluster, type TestNode } from './harness.ts'

describe('a client whose job the store has lost', () => {
  let cluster: Cluster
  let node: TestNode

  beforeEach(async () => {
    cluster = new Cluster()
    // A store that came back from an older state gives the ids since then again.
    node = await cluster.node('a', {}, (store) => {
      store.submit = (_lane, jobs) =>
        Promise.resolve(jobs.map(() => ({ kind: 'created', id: 1 }) as const))
      return store
    })
  })

  test('hears that it failed when another job is given its id', async () => {
    const lost = node.ask('mail')
    await cluster.turn()
    const client = node.ask('mail')
    await cluster.turn()
    expect(lost.heard).toEqual(['mail:1 fail'])
    expect(client.heard).toEqual([])
  })

  test('and so it does where nobody waits for that job', async () => {
    const lost = node.ask('mail')
    await cluster.turn()
    node.submit('mail')
    await cluster.turn()
    expect(lost.heard).toEqual(['mail:1 fail'])
  })
})
