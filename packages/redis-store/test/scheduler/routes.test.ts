import { beforeEach, describe, expect, test } from 'vitest'
import type { LiveSettings, RouteTerms } from '@crossgear/core-scheduler'
import { bytes, Cluster, type TestNode } from './harness.ts'

let cluster: Cluster

beforeEach(() => {
  cluster = new Cluster()
})

/** From then on a gateway, or a lane, has had the time that workers need to be counted. */
const countedMs = 10_000

const routed = (terms: RouteTerms) => ({ routes: new Map([['mail', terms]]) })
const liveSettings = (terms: RouteTerms): LiveSettings => ({
  homes: new Map(),
  routed: new Set(),
  throttles: new Map(),
  ...routed(terms),
})

async function kindOf(node: TestNode, lane = 'mail', over = {}) {
  const client = await node.submitted(lane, over)
  return client.result?.kind
}

describe('a function whose jobs need a worker', () => {
  const needing = routed({ needsWorker: true })

  test('refuses none before the workers of a gateway that starts are counted', async () => {
    const node = await cluster.node('a', needing)
    expect(await kindOf(node)).toBe('created')
    await cluster.pass(countedMs - 1_000)
    expect(await kindOf(node)).toBe('created')
    await cluster.pass(1_000)
    expect(await kindOf(node)).toBe('unattended')
    expect(await kindOf(node, 'news')).toBe('created')
    const late = await cluster.node('b', needing)
    expect(await kindOf(late)).toBe('created')
    await cluster.pass(countedMs)
    expect(await kindOf(late)).toBe('unattended')
  })

  test('takes jobs while a worker is there, behind any gateway', async () => {
    const [node, other] = [await cluster.node('a', needing), await cluster.node('b', needing)]
    await cluster.pass(countedMs)
    expect(await kindOf(node)).toBe('unattended')
    other.scheduler.countNamed('mail', 1)
    await cluster.turn()
    expect(await kindOf(node)).toBe('created')
    other.scheduler.countNamed('mail', -1)
    await cluster.turn()
    expect(await kindOf(node)).toBe('unattended')
    // A consumer that may not have it, until its function is opened.
    other.scheduler.countConsumer('default', 1)
    await cluster.turn()
    expect(await kindOf(node)).toBe('unattended')
    await other.scheduler.openLane('mail')
    expect(await kindOf(node)).toBe('created')
  })

  test('refuses none of a lane that has just come, whose consumers are not counted yet', async () => {
    const node = await cluster.node('a', needing)
    await cluster.pass(countedMs)
    expect(await kindOf(node, 'mail@bulk')).toBe('created')
    expect(await kindOf(node, 'mail@bulk')).toBe('created')
    await cluster.pass(countedMs)
    expect(await kindOf(node, 'mail@bulk')).toBe('unattended')
  })

  test('refuses none of a store that may have lost the counts', async () => {
    const node = await cluster.node('a', needing)
    await cluster.pass(countedMs)
    await node.store.nodes.leave([])
    await cluster.pass(1_000)
    expect(await kindOf(node)).toBe('created')
  })

  test('never refuses jobs of a batch or of cron, nor those that stand in another lane', async () => {
    const node = await cluster.node('a', routed({ needsWorker: true, maxWaiting: 1 }))
    await node.store.batches.create({ bid: 'b', description: '' })
    await cluster.pass(countedMs)
    expect(await kindOf(node)).toBe('unattended')
    const tick = { entry: 'hourly', atMs: 1 }
    for (const over of [{ batch: 'b', door: 'faktory' }, { tick }, { isMoved: true }])
      expect(await kindOf(node, 'mail', over)).toBe('created')
  })

  test('is another one from a reload on', async () => {
    const node = await cluster.node('a')
    await cluster.pass(countedMs)
    expect(await kindOf(node)).toBe('created')
    node.scheduler.configure(liveSettings({ needsWorker: true }))
    await cluster.pass(countedMs)
    expect(await kindOf(node)).toBe('unattended')
    node.scheduler.configure(liveSettings({}))
    expect(await kindOf(node)).toBe('created')
  })
})

describe('a function of which few jobs may wait', () => {
  test('refuses others, over all of its lanes and gateways', async () => {
    const terms = routed({ maxWaiting: 2 })
    const [node, other] = [await cluster.node('a', terms), await cluster.node('b', terms)]
    expect(await kindOf(node)).toBe('created')
    expect(await kindOf(other, 'mail@bulk')).toBe('created')
    expect(await kindOf(node)).toBe('full')
    expect(await kindOf(other, 'mail@bulk')).toBe('full')
    await node.worker('mail').taken()
    expect(await kindOf(other)).toBe('created')
  })

  test('does not count a job that was retried against it: the retry comes back all the same', async () => {
    const node = await cluster.node('a', routed({ maxWaiting: 1, retries: 1 }))
    expect(await kindOf(node)).toBe('created')
    const worker = await node.worker('mail').taken()
    worker.fail('broken')
    expect(await kindOf(node)).toBe('created')
    await cluster.pass(15_300)
    expect((await node.scheduler.jobs.counts(['mail']))[0]).toMatchObject({ normal: 2 })
  })
})

describe('a function whose jobs may not wait for long', () => {
  test('fails those of clients, and keeps others among the dead', async () => {
    const node = await cluster.node('a', routed({ maxAgeMs: 5_000 }))
    const client = node.ask('mail')
    node.submit('mail')
    node.submit('mail', { dueAtMs: node.scheduler.storeNowMs() + 10_000 })
    node.submit('news')
    await cluster.pass(4_000)
    expect(client.events).toEqual([])
    await cluster.pass(3_000)
    expect(client.events).toEqual(['mail:1 exception expired'])
    const counts = async () => (await node.scheduler.jobs.counts(['mail', 'news'])).slice(0, 2)
    expect(await counts()).toMatchObject([
      { dead: 1, died: 1, expired: 1, scheduled: 1 },
      { normal: 1, expired: 0 },
    ])
    await cluster.pass(7_000)
    expect(await counts()).toMatchObject([{ normal: 1 }, { normal: 1 }])
    await cluster.pass(4_000)
    expect(await counts()).toMatchObject([{ dead: 2, normal: 0 }, { normal: 1 }])
    expect(node.observer.of('dropped').map(({ how }) => how)).toEqual(['expired', 'died', 'died'])
  })

  test('drops them where its route says so, of any number', async () => {
    const node = await cluster.node('a', routed({ maxAgeMs: 5_000, dropsAged: true }))
    for (let job = 0; job < 450; job += 1) node.submit('mail')
    await cluster.pass(7_000)
    expect((await node.scheduler.jobs.counts(['mail']))[0]).toMatchObject({
      normal: 0,
      dead: 0,
      expired: 450,
    })
  })
})

describe('the terms of a job', () => {
  test('are those of its route, overridden for it, and its own come first', async () => {
    const node = await cluster.node(
      'a',
      routed({
        retries: 1,
        backoff: 'a',
        timeoutSeconds: 100,
        ofJob: ({ level }) => (level === 9 ? { retries: 2, backoff: 'b' } : undefined),
      }),
    )
    node.submit('mail', { level: 9 })
    await node.submitted('mail', { level: 8, retries: 7, reserveForSeconds: 60 })
    const worker = await node.worker('mail').taken()
    expect(worker.last.job).toMatchObject({
      retries: 2,
      backoff: 'b',
      reserveForSeconds: 100,
      isTimed: true,
    })
    await worker.taken()
    expect(worker.last.job).toMatchObject({ retries: 7, backoff: 'a', reserveForSeconds: 60 })
  })

  test('give a late by-name worker’s job to another, though that has asked for no time', async () => {
    const [node, other] = [
      await cluster.node('a', routed({ timeoutSeconds: 5 })),
      await cluster.node('b', routed({ timeoutSeconds: 5 })),
    ]
    await node.submitted('mail', { input: bytes('slow') })
    const late = await node.worker('mail').taken()
    expect(late.jobs).toEqual(['mail:1'])
    await cluster.pass(8_000)
    const next = await other.worker('mail').taken()
    expect(next.jobs).toEqual(['mail:1'])
    await late.completed('late')
    expect(late.settled).toEqual(['done'])
    await next.completed('second')
    expect(next.settled).toEqual(['unknown'])
  })
})
