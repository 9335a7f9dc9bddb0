import { describe, expect, test } from 'vitest'
import { StoreError } from '@crossgear/core-scheduler'
import { Cluster, type TestNode } from './harness.ts'

/** A store whose confirmations the test gives one by one. */
class Confirmer {
  readonly #waiting: { resolve: () => void; reject: (error: StoreError) => void }[] = []

  readonly confirm = (): Promise<void> =>
    new Promise((resolve, reject) => void this.#waiting.push({ resolve, reject }))

  yes(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve()
  }

  no(code: 'UNCONFIRMED' | 'UNREACHABLE' = 'UNCONFIRMED'): void {
    for (const { reject } of this.#waiting.splice(0)) reject(new StoreError(code, 'no'))
  }
}

async function open(): Promise<{ cluster: Cluster; node: TestNode; confirmer: Confirmer }> {
  const cluster = new Cluster()
  const confirmer = new Confirmer()
  const node = await cluster.node('a', {}, (store) =>
    Object.assign(store, { confirm: confirmer.confirm }),
  )
  return { cluster, node, confirmer }
}

describe('with confirmed writes:', () => {
  test('a client is answered when its job is safe, and not before', async () => {
    const { cluster, node, confirmer } = await open()
    const client = await node.submitted('mail')
    expect(client.result).toBeUndefined()
    confirmer.yes()
    await cluster.turn()
    expect(client.result).toEqual({ kind: 'created', id: 1 })
  })

  test('a job that is not confirmed durable is refused, and may still run', async () => {
    const { cluster, node, confirmer } = await open()
    const worker = node.worker('mail').sleep()
    worker.takesWhenWoken = true
    const client = await node.submitted('mail')
    confirmer.no()
    await cluster.turn()
    expect(client.refusal?.code).toBe('UNCONFIRMED')
    expect(worker.jobs).toEqual(['mail:1'])
    expect(node.observer.of('unconfirmed')).toMatchObject([{ what: 'submissions', n: 1 }])
  })

  test('a foreground job that is refused is not run, because no client waits for it', async () => {
    const { cluster, node, confirmer } = await open()
    await node.asked('mail')
    confirmer.no()
    await cluster.turn()
    const worker = await node.worker('mail').taken()
    expect(worker.jobs).toEqual([])
  })

  test('a client gets all events of a job that ran before its submission was answered', async () => {
    const { cluster, node, confirmer } = await open()
    const client = await node.asked('mail')
    const worker = await node.worker('mail').taken()
    worker.data('part')
    await worker.completed('result')
    expect([client.result, client.events]).toEqual([undefined, []])
    confirmer.yes()
    await cluster.turn()
    expect(client.result).toEqual({ kind: 'created', id: 1 })
    expect(client.events).toEqual(['mail:1 data part', 'mail:1 complete result'])
    expect(worker.settled).toEqual(['done'])
  })

  test('a client that leaves before its submission was answered abandons the job', async () => {
    const { cluster, node, confirmer } = await open()
    const client = await node.asked('mail')
    client.gone = true
    confirmer.yes()
    await cluster.turn()
    const worker = await node.worker('mail').taken()
    expect(worker.jobs).toEqual([])
  })

  test('worker and client get an outcome when it is safe, or when confirmation failed', async () => {
    const { cluster, node, confirmer } = await open()
    const clients = [node.ask('mail'), node.ask('mail')]
    await cluster.turn()
    confirmer.yes()
    for (const [at, client] of clients.entries()) {
      const worker = await node.worker('mail').taken()
      await worker.completed('result')
      expect([worker.settled, client.events]).toEqual([[], []])
      if (at === 0) confirmer.yes()
      else confirmer.no()
      await cluster.turn()
      expect(worker.settled).toEqual(['done'])
      expect(client.events).toEqual([`mail:${at + 1} complete result`])
    }
    expect(node.observer.of('unconfirmed')).toMatchObject([{ what: 'outcomes', n: 1 }])
  })

  test('a job whose outcome is not confirmed yet does not count as lost', async () => {
    const { cluster, node, confirmer } = await open()
    const client = await node.asked('mail')
    confirmer.yes()
    const worker = await node.worker('mail').taken()
    worker.complete('result')
    await cluster.pass(10_000)
    expect(client.events).toEqual([])
    confirmer.yes()
    await cluster.turn()
    expect(client.events).toEqual(['mail:1 complete result'])
  })

  test('a submission is refused if the store is lost before its answer', async () => {
    const { cluster, node, confirmer } = await open()
    const client = await node.submitted('mail')
    confirmer.no('UNREACHABLE')
    await cluster.turn()
    expect(client.refusal?.code).toBe('UNREACHABLE')
  })
})
