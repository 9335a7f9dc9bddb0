import { beforeEach, describe, expect, test } from 'vitest'
import { StoreError, type StoreErrorCode } from '@crossgear/core-scheduler'
import { aroundSteps, Cluster, type TestNode } from '../harness.ts'

describe('an outcome whose answer from the store is lost', () => {
  let cluster: Cluster
  let node: TestNode
  let lose: { readonly code: StoreErrorCode; readonly isTaken: boolean } | undefined
  beforeEach(async () => {
    cluster = new Cluster()
    lose = undefined
    node = await cluster.node('a', {}, (store) =>
      aroundSteps(store, async (step, send) => {
        if (!lose || step.outcomes.length === 0) return send(step)
        const { code, isTaken } = lose
        if (isTaken) await send(step)
        throw new StoreError(code, 'lost')
      }),
    )
  })

  /** A client waits, and the worker ends its job. */
  async function ended(end: (worker: ReturnType<TestNode['worker']>) => void) {
    const client = node.ask('mail')
    const worker = node.worker('mail').take()
    await cluster.turn()
    end(worker)
    await cluster.turn()
    return { client, worker }
  }

  test.each(['TIMEOUT', 'UNREACHABLE'] as const)(
    'reaches its client if the store took it (%s)',
    async (code) => {
      lose = { code, isTaken: true }
      const { client, worker } = await ended((held) => held.complete('done'))
      expect(worker.refusals.map((error) => error.code)).toEqual([code])
      lose = undefined
      await cluster.pass(10_000)
      expect(client.events).toEqual(['mail:1 complete done'])
    },
  )

  test('that is a failure reaches the client as a failure', async () => {
    lose = { code: 'TIMEOUT', isTaken: true }
    const { client } = await ended((held) => held.fail('broken'))
    lose = undefined
    await cluster.pass(10_000)
    expect(client.events).toEqual(['mail:1 exception broken'])
  })

  test('is not reported before the store is known to have it', async () => {
    lose = { code: 'TIMEOUT', isTaken: false }
    const { client, worker } = await ended((held) => held.complete('first'))
    lose = undefined
    await cluster.pass(10_000)
    expect(client.events).toEqual([])
    worker.complete('second')
    await cluster.turn()
    expect(client.events).toEqual(['mail:1 complete second'])
  })
})
