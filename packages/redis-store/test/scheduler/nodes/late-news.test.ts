import { beforeEach, describe, expect, test } from 'vitest'
import type { StoreListener } from '@crossgear/core-scheduler'
import { aroundSteps, Cluster, type TestClient, type TestNode } from '../harness.ts'

describe('late notifications from other nodes', () => {
  let cluster: Cluster
  let listening: TestNode
  let working: TestNode
  let late: (() => void)[]
  let isLate: boolean
  beforeEach(async () => {
    cluster = new Cluster()
    late = []
    isLate = true
    listening = await cluster.node('listening', {}, (store) => {
      const listen = store.events.listen.bind(store.events)
      store.events.listen = (listener: StoreListener) => {
        const relayed = listener.relayed.bind(listener)
        listener.relayed = (ref, event) => {
          if (isLate) late.push(() => relayed(ref, event))
          else relayed(ref, event)
        }
        listen(listener)
      }
      store.events.delivered = () => {
        for (const hear of late.splice(0)) hear()
        return Promise.resolve()
      }
      return store
    })
    working = await cluster.node('working')
  })

  async function asked(): Promise<{ client: TestClient; worker: ReturnType<TestNode['worker']> }> {
    const client = await listening.asked('mail')
    const worker = await working.worker('mail').taken()
    return { client, worker }
  }

  test('are still delivered before the end of the job', async () => {
    const { client, worker } = await asked()
    worker.data('one')
    worker.data('two')
    worker.complete('done')
    await cluster.pass(3_000)
    expect(client.events).toEqual(['mail:1 data one', 'mail:1 data two', 'mail:1 complete done'])
  })

  test('do not delay progress, which is delivered once', async () => {
    const { client, worker } = await asked()
    isLate = false
    worker.status('1', '4')
    await cluster.pass(3_000)
    expect(client.events).toEqual(['mail:1 status 1/4'])
  })

  test('of progress bring it once, though the job is looked at before', async () => {
    const { client, worker } = await asked()
    worker.status('1', '4')
    worker.status('2', '4')
    await cluster.turn()
    listening.listener.up()
    await cluster.pass(3_000)
    expect(client.events).toEqual(['mail:1 status 1/4', 'mail:1 status 2/4'])
  })
})

describe('a report that is stored and not yet answered', () => {
  test('is told once, though its job is looked at before', async () => {
    const cluster = new Cluster()
    let answer = (): void => undefined
    const node = await cluster.node('a', {}, (store) =>
      aroundSteps(store, async (step, send) => {
        const answers = await send(step)
        if (step.reports.length > 0) await new Promise<void>((resolve) => (answer = resolve))
        return answers
      }),
    )
    const client = node.ask('mail')
    const worker = await node.worker('mail').taken()
    worker.status('1', '2')
    await cluster.turn()
    // It looks at what it may have missed.
    node.listener.up()
    await cluster.pass(1_000)
    answer()
    await cluster.turn()
    expect(client.events).toEqual(['mail:1 status 1/2'])
  })
})

describe('an outcome that is stored and not yet answered', () => {
  test('does not count as a lost job', async () => {
    const cluster = new Cluster()
    let answer = (): void => undefined
    const node = await cluster.node('a', {}, (store) =>
      aroundSteps(store, async (step, send) => {
        const settled = await send(step)
        if (step.outcomes.length > 0) await new Promise<void>((resolve) => (answer = resolve))
        return settled
      }),
    )
    const client = node.ask('mail')
    const worker = await node.worker('mail').taken()
    worker.complete('done')
    await cluster.pass(4_000)
    expect(client.events).toEqual([])
    answer()
    await cluster.turn()
    expect(client.events).toEqual(['mail:1 complete done'])
  })
})
