import { Client, Worker } from 'faktory-worker'
import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../../../src/doors/net/clock.ts'
import { describeFaktory } from './support/faktory-gateway.ts'

interface Seen {
  readonly job: { readonly jobtype: string }
}

/** A promise, and how to settle it. */
function promised<Value>(): {
  readonly promise: Promise<Value>
  readonly settle: (value: Value) => void
} {
  let settle: (value: Value) => void = () => undefined
  const promise = new Promise<Value>((resolve) => (settle = resolve))
  return { promise, settle }
}

describeFaktory('the npm package faktory-worker', (gateways) => {
  const ends: (() => Promise<unknown>)[] = []
  /** The package waits for its FETCH commands before it ends. */
  const brisk = { clock: systemClock, fetchBlocksMs: 20 }

  afterEach(async () => {
    for (const end of ends.splice(0)) await end()
  })

  function stockClient(port: number, password?: string): Client {
    const client = new Client({ host: '127.0.0.1', port, ...(password ? { password } : {}) })
    ends.push(() => client.close())
    return client
  }

  function stockWorker(options: ConstructorParameters<typeof Worker>[0]): Worker {
    const worker = new Worker({ host: '127.0.0.1', timeout: 1, ...options })
    ends.push(() => worker.stop())
    return worker
  }

  test('pushes, fetches, acknowledges', async () => {
    const { port } = await gateways.open(brisk)
    const client = stockClient(port)
    const job = client.job('mail', 'a', { b: [1, 2.5] })
    job.queue = 'bulk'
    job.priority = 7
    job.custom = { locale: 'de' }
    const jid = await job.push()
    const fetched = await client.fetch('bulk')
    expect(fetched).toMatchObject({
      jid,
      jobtype: 'mail',
      queue: 'bulk',
      args: ['a', { b: [1, 2.5] }],
      priority: 7,
      custom: { locale: 'de' },
    })
    expect(await client.ack(jid)).toBe('OK')
    expect((await client.info()).faktory).toMatchObject({ total_processed: 1, total_enqueued: 0 })
  })

  test('pushes in bulk and learns which were refused', async () => {
    const { port } = await gateways.open(brisk)
    const client = stockClient(port)
    const good = client.job('mail')
    const bad = client.job('mail')
    bad.queue = 'a b'
    const rejected = await client.pushBulk([good, bad])
    expect(Object.keys(rejected)).toEqual([bad.jid])
    expect(await client.fetch('default')).toMatchObject({ jid: good.jid })
    expect((await client.info()).faktory).toMatchObject({ total_enqueued: 0 })
  })

  test('proves that it knows the password', async () => {
    const { port } = await gateways.open({ ...brisk, password: 'sesame' })
    const jid = await stockClient(port, 'sesame').job('mail').push()
    expect(jid).toEqual(expect.any(String))
  })

  test('runs as many jobs at once as its concurrency, through its middleware', async () => {
    const { port, scheduler } = await gateways.open(brisk)
    const client = stockClient(port)
    const worker = stockWorker({ port, concurrency: 5, queues: ['critical', 'default'] })
    const seen: unknown[] = []
    const all = promised<true>()
    worker.use(async (context: Seen, next: () => Promise<unknown>) => {
      seen.push(context.job.jobtype)
      await next()
    })
    let sum = 0
    let done = 0
    worker.register('add', async (...args: unknown[]) => {
      sum += Number(args[0])
      if (++done === 50) all.settle(true)
    })
    await client.pushBulk(Array.from({ length: 50 }, (_none, at) => client.job('add', at)))
    await worker.work()
    await all.promise
    expect(sum).toBe((49 * 50) / 2)
    expect(seen).toHaveLength(50)
    await expect.poll(() => scheduler.running).toBe(0)
  })

  test('reports a failure', async () => {
    const { port, scheduler } = await gateways.open(brisk)
    const client = stockClient(port)
    const worker = stockWorker({ port, concurrency: 1 })
    worker.register('explode', async () => {
      throw new Error('boom')
    })
    const failed = promised<unknown>()
    worker.on('fail', failed.settle)
    const jid = await client.job('explode').push()
    await worker.work()
    await failed.promise
    const job = await scheduler.jobs.findJid(jid)
    expect(JSON.parse(job?.failure ?? '')).toMatchObject({ message: 'boom', retry_count: 0 })
  })
})
