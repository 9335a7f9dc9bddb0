import { Client } from 'faktory-worker'
import { describe, expect, test } from 'vitest'
import { describeFaktory } from '../support/faktory-gateway.ts'
import { figures } from '../support/figures.ts'
import type { FwpClient } from '../support/fwp-client.ts'

const jobs = 120
const types = 10
const inOrder = Array.from({ length: jobs }, (_none, at) => at)

/** Job `at` of a producer, each of another type than those around it. */
function jobOf(at: number, fields: object = {}): object {
  const jobtype = `type-${(at * 7) % types}`
  return { jid: `job-${String(at).padStart(8, '0')}`, jobtype, args: [at], ...fields }
}

const pushes = (fields?: object): string[] =>
  inOrder.map((at) => `PUSH ${JSON.stringify(jobOf(at, fields))}`)

/** Jobs that a consumer gets one after the other. */
async function fetchAll(consumer: FwpClient, count: number): Promise<number[]> {
  const seen: number[] = []
  while (seen.length < count) {
    const job = await consumer.askJson('FETCH default')
    seen.push(Number((job['args'] as unknown as number[])[0]))
    await consumer.ask(`ACK {"jid":"${String(job['jid'])}"}`)
  }
  return seen
}

/** The ways in which one producer's jobs come, and no type of theirs was known before. */
const ways: Readonly<Record<string, (producer: FwpClient) => Promise<void>>> = {
  'one PUSHB': async (producer) => {
    const reply = await producer.ask(`PUSHB ${JSON.stringify(inOrder.map((at) => jobOf(at)))}`)
    expect(reply).toBe('$2\r\n{}')
  },
  'pipelined PUSHes': async (producer) => {
    producer.send(...pushes())
    for (const at of inOrder) expect(await producer.reply(), `job ${at}`).toBe('+OK')
  },
  'pipelined PUSHes in pieces that end anywhere': async (producer) => {
    const bytes = Buffer.from(pushes().join('\r\n') + '\r\n')
    for (let at = 0; at < bytes.length; at += 1_777) {
      producer.sendRaw(bytes.subarray(at, at + 1_777))
      await new Promise((resolve) => setImmediate(resolve))
    }
    for (const at of inOrder) expect(await producer.reply(), `job ${at}`).toBe('+OK')
  },
  'PUSHes one after the other': async (producer) => {
    for (const line of pushes()) expect(await producer.ask(line)).toBe('+OK')
  },
}

describeFaktory('jobs of ten types in one queue', (gateways) => {
  describe.each(Object.entries(ways))('by %s', (_name, push) => {
    test('are fetched in the order in which they were sent', async () => {
      const { client } = await gateways.open()
      await push(await client())
      expect(await fetchAll(await client({ wid: 'worker-1' }), jobs)).toEqual(inOrder)
    })

    test('are fetched in that order at another node, which waits for them', async () => {
      const [here, there] = [await gateways.open(), await gateways.open()]
      const consumer = await there.client({ wid: 'worker-1' })
      const fetched = fetchAll(consumer, jobs)
      await push(await here.client())
      expect(await fetched).toEqual(inOrder)
    })

    test('start in that order at several consumers', async () => {
      const { client } = await gateways.open()
      const consumers = await Promise.all(
        ['worker-1', 'worker-2', 'worker-3', 'worker-4'].map((wid) => client({ wid })),
      )
      await push(await client())
      const seen: number[][] = []
      for (let round = 0; round < jobs / consumers.length; round += 1) {
        seen.push((await Promise.all(consumers.map((each) => fetchAll(each, 1)))).flat())
      }
      // In a round all are asked at once: which of them gets which is open.
      const rounds = seen.map((some) => some.sort((one, other) => one - other))
      expect(rounds.flat()).toEqual(inOrder)
    })
  })

  test('pushed in turns at two nodes are fetched in the order of their answers', async () => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const producers = [await here.client(), await there.client()]
    for (const [at, line] of pushes().entries())
      expect(await producers[at % 2]?.ask(line)).toBe('+OK')
    expect(await fetchAll(await here.client({ wid: 'worker-1' }), jobs)).toEqual(inOrder)
  })

  test('are ordered by priority, and within each as they were sent', async () => {
    const { client } = await gateways.open()
    const priorityOf = (at: number): number => [5, 9, 1, 7][at % 4] ?? 5
    const list = inOrder.map((at) => jobOf(at, { priority: priorityOf(at) }))
    await (await client()).ask(`PUSHB ${JSON.stringify(list)}`)
    const expected = inOrder.toSorted(
      (one, other) => priorityOf(other) - priorityOf(one) || one - other,
    )
    expect(await fetchAll(await client({ wid: 'worker-1' }), jobs)).toEqual(expected)
  })

  test('that are due in the same moment are fetched in the order in which they were sent', async () => {
    const { client } = await gateways.open()
    const at = new Date(Date.now() + 1_500).toISOString()
    await (await client()).ask(`PUSHB ${JSON.stringify(inOrder.map((job) => jobOf(job, { at })))}`)
    const consumer = await client({ wid: 'worker-1' })
    await expect.poll(async () => (await figures(consumer)).enqueued).toBe(jobs)
    expect(await fetchAll(consumer, jobs)).toEqual(inOrder)
  })

  test('take turns with jobs of a native client in order of arrival', async () => {
    const { client } = await gateways.open()
    const producer = await client()
    const consumer = await client({ wid: 'worker-1' })
    await producer.push('legacy-1', { jobtype: 'legacy', args: [100] })
    expect(await fetchAll(consumer, 1)).toEqual([100])
    await producer.ask(`PUSH ${JSON.stringify(jobOf(0))}`)
    for (const id of [2, 3, 4]) {
      await gateways.redis('SET', 'uid:legacy', String(id))
      await gateways.redis('HSET', `job:legacy:${id}`, 'status', 'idle', 'input', `[${100 + id}]`)
      await gateways.redis('PUBLISH', 'channel:legacy', `create:${id}`)
      await gateways.redis('LPUSH', 'queue:legacy:normal', String(id))
    }
    // Nobody waited for them: the lanes are looked through now and then.
    await expect.poll(() => gateways.redis('HEXISTS', 'job:legacy:2', 'enqueued')).toBe('1')
    await producer.ask(`PUSH ${JSON.stringify(jobOf(1))}`)
    expect(await fetchAll(consumer, 5)).toEqual([0, 102, 103, 104, 1])
  })

  test('pushed with the npm package faktory-worker come back in order', async () => {
    const { port } = await gateways.open()
    const client = new Client({ host: '127.0.0.1', port })
    const batch = inOrder.map((at) => client.job(`type-${(at * 7) % types}`, at))
    await client.pushBulk(batch)
    const seen: unknown[] = []
    while (seen.length < batch.length) {
      const job = await client.fetch('default')
      if (!job) break
      seen.push(job.args[0])
      await client.ack(job.jid)
    }
    await client.close()
    expect(seen).toEqual(inOrder)
  })
})
