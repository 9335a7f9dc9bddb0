import { beforeEach, describe, expect, test } from 'vitest'
import { StoreError, type StoreErrorCode } from '@crossgear/core-scheduler'
import { aroundSteps, Cluster, type TestNode } from '../harness.ts'

describe('an outcome whose answer from the store is lost', () => {
  let cluster: Cluster
  let node: TestNode
  let lose:
    | { readonly code: StoreErrorCode; readonly isTaken: boolean; readonly message?: string }
    | undefined
  let sent = 0
  beforeEach(async () => {
    cluster = new Cluster()
    lose = undefined
    sent = 0
    node = await cluster.node('a', {}, (store) =>
      aroundSteps(store, async (step, send) => {
        if (!lose || step.outcomes.length === 0) return send(step)
        const { code, isTaken, message = 'lost' } = lose
        sent += 1
        if (isTaken) await send(step)
        throw new StoreError(code, message)
      }),
    )
  })

  /** A client waits, and the worker ends its job. */
  async function ended(end: (worker: ReturnType<TestNode['worker']>) => void) {
    const client = node.ask('mail')
    const worker = await node.worker('mail').taken()
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
    await worker.completed('second')
    expect(client.events).toEqual(['mail:1 complete second'])
  })

  test.each([true, false])(
    'that puts a job back is sent again with a heartbeat (the store took it: %s)',
    async (isTaken) => {
      lose = { code: 'REFUSED', isTaken }
      const { worker } = await ended((held) => held.release(true))
      expect(worker.refusals).toHaveLength(1)
      lose = undefined
      await cluster.pass(1_000)
      expect(worker.settled).toEqual([isTaken ? 'unknown' : 'requeued'])
      const next = await node.worker('mail').taken()
      expect(next.jobs).toEqual(['mail:1'])
      await cluster.pass(5_000)
      expect(worker.settled).toHaveLength(1)
    },
  )

  test('is sent again with a heartbeat where nobody else would repeat it', async () => {
    lose = { code: 'REFUSED', isTaken: false }
    const client = node.ask('mail')
    const worker = await node.worker('mail').taken()
    const settled: string[] = []
    for (const [output, isRepeated] of [
      ['first', false],
      ['second', true],
    ] as const) {
      node.scheduler.complete(worker.last, Buffer.from(output), {
        isRepeated,
        settled: (result) => void settled.push(`${output} ${result}`),
        refused: () => void settled.push(`${output} refused`),
      })
      await cluster.turn()
    }
    lose = undefined
    await cluster.pass(1_000)
    expect(settled).toEqual(['first refused', 'second refused', 'second done'])
    expect(client.events).toEqual(['mail:1 complete second'])
  })

  test('is sent once and told of where a foreign key keeps its job from ending', async () => {
    lose = { code: 'REFUSED', isTaken: false, message: 'WRONGTYPE of xg:busy:mail' }
    node.submit('mail')
    const worker = await node.worker('mail').taken()
    const answers: unknown[] = []
    node.scheduler.complete(worker.last, Buffer.from('done'), {
      isRepeated: true,
      settled: (result) => void answers.push(result),
      refused: (_error, isKept) => void answers.push(isKept),
    })
    await cluster.turn()
    for (let beats = 0; beats < 5; beats += 1) await cluster.pass(1_000)
    expect([sent, answers]).toEqual([1, [false]])
    expect(node.observer.of('outcomesKept')).toEqual([])
    expect(node.observer.errors).toEqual([
      'An outcome of mail is dropped, as its job cannot be ended',
    ])
  })

  test('is kept in bounds: beyond them the lease ends, and the job runs again', async () => {
    lose = { code: 'UNREACHABLE', isTaken: false }
    node.submit('mail')
    node.submit('mail')
    await cluster.turn()
    const workers = [await node.worker('mail').taken(), await node.worker('mail').taken()]
    const answers: unknown[] = []
    const outputs = [Buffer.alloc(60 * 1024 * 1024), Buffer.alloc(5 * 1024 * 1024)]
    for (const [at, worker] of workers.entries()) {
      node.scheduler.complete(worker.last, outputs[at] ?? Buffer.alloc(0), {
        isRepeated: true,
        settled: (result) => void answers.push(result),
        refused: (_error, isKept) => void answers.push(isKept),
      })
      await cluster.turn()
    }
    expect(answers).toEqual([true, false])
    lose = undefined
    await cluster.pass(1_000)
    expect(answers).toEqual([true, false, 'done'])
    expect((await node.worker('mail').taken()).jobs).toEqual(['mail:2'])
    await cluster.pass(2_000)
    expect(node.observer.of('outcomesKept').map(({ what }) => what)).toEqual([
      'kept',
      'full',
      'stored',
    ])
  })
})
