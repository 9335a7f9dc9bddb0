import { expect, test } from 'vitest'
import { describeFaktory } from '../support/faktory-gateway.ts'
import type { FwpClient } from '../support/fwp-client.ts'

const success = { jobtype: 'succeeded', args: ['letters'], queue: 'calls' }
const complete = { jid: 'complete1', jobtype: 'completed', args: [], queue: 'calls' }

async function newBatch(
  client: FwpClient,
  fields: object = { success, complete },
): Promise<string> {
  const reply = await client.ask(`BATCH NEW ${JSON.stringify({ description: 'd', ...fields })}`)
  const [, bid] = /^\$\d+\r\n([\w-]+)$/.exec(reply) ?? []
  if (bid === undefined) throw new Error(`BATCH NEW was answered ${reply}`)
  return bid
}

const statusOf = (client: FwpClient, bid: string) => client.askJson(`BATCH STATUS ${bid}`)
const commit = (client: FwpClient, bid: string) => client.ask(`BATCH COMMIT ${bid}`)

/** A batch of one job, `job00001`, to which no more is to come. */
async function batchOfOne(client: FwpClient): Promise<string> {
  const bid = await newBatch(client)
  await client.push('job00001', { custom: { bid } })
  await commit(client, bid)
  return bid
}

async function run(client: FwpClient, queue = 'default'): Promise<Record<string, unknown>> {
  const job = (await client.askJson(`FETCH ${queue}`)) as Record<string, unknown>
  await client.ask(`ACK ${JSON.stringify({ jid: job['jid'] })}`)
  return job
}

describeFaktory('BATCH', (gateways) => {
  test('pushes its callbacks once when its jobs are done, over two nodes', async () => {
    const [here, there] = [await gateways.open(), await gateways.open()]
    const [producer, worker] = [await here.client(), await there.client({ wid: 'w1' })]
    const bid = await newBatch(producer)
    for (const jid of ['job00001', 'job00002']) {
      expect(await producer.push(jid, { custom: { bid } })).toBe('+OK')
    }
    expect(await commit(producer, bid)).toBe('+OK')
    expect(await statusOf(producer, bid)).toEqual({
      bid,
      description: 'd',
      total: 2,
      pending: 2,
      failed: 0,
      complete_st: '',
      success_st: '',
      created_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    })
    worker.send('FETCH calls')
    const other = await here.client({ wid: 'w2' })
    await run(other)
    await run(other)
    expect(await worker.reply()).toContain('"jid":"complete1"')
    expect(await statusOf(producer, bid)).toMatchObject({
      pending: 0,
      complete_st: '1',
      success_st: '',
    })
    expect((await producer.askJson('INFO'))['faktory']).toMatchObject({ total_enqueued: 0 })
    expect(await worker.ask('ACK {"jid":"complete1"}')).toBe('+OK')
    expect(await run(worker, 'calls')).toMatchObject({ jobtype: 'succeeded', args: ['letters'] })
    expect(await statusOf(producer, bid)).toMatchObject({
      total: 2,
      pending: 0,
      failed: 0,
      complete_st: '2',
      success_st: '2',
    })
    expect((await producer.askJson('INFO'))['faktory']).toMatchObject({ total_enqueued: 0 })
  })

  test('tells its callbacks which batch they belong to', async () => {
    const one = await gateways.client({ wid: 'w1' })
    const bid = await newBatch(one, {
      complete: { ...complete, jid: null, args: null, custom: { own: 1 } },
      success: { ...success, custom: null },
    })
    await commit(one, bid)
    const done = await run(one, 'calls')
    expect(done).toMatchObject({ args: [], custom: { _bid: bid, _cb: 'complete', own: 1 } })
    expect(done['jid']).toMatch(/^b-[\w-]{16}$/)
    expect(await run(one, 'calls')).toMatchObject({ custom: { _bid: bid, _cb: 'success' } })
  })

  test('is complete when each job has run, and successful when a failed one has been done', async () => {
    const one = await gateways.client({ wid: 'w1' })
    const bid = await batchOfOne(one)
    await one.ask('FETCH')
    await one.ask('FAIL {"jid":"job00001"}')
    expect(await statusOf(one, bid)).toMatchObject({
      pending: 0,
      failed: 1,
      complete_st: '1',
      success_st: '',
    })
    await run(one, 'calls')
    const requeue = { cmd: 'requeue', target: 'retries', filter: { jids: ['job00001'] } }
    await one.ask(`MUTATE ${JSON.stringify(requeue)}`)
    await run(one)
    expect(await run(one, 'calls')).toMatchObject({ jobtype: 'succeeded' })
  })

  test('survives the end of its node', async () => {
    const first = await gateways.open()
    const producer = await first.client()
    await batchOfOne(producer)
    await first.door.close()
    await first.scheduler.stop()
    const worker = await (await gateways.open()).client({ wid: 'w1' })
    await run(worker)
    expect(await run(worker, 'calls')).toMatchObject({ jid: 'complete1' })
  })

  test('a job can open its batch and add to it', async () => {
    const one = await gateways.client({ wid: 'w1' })
    const bid = await batchOfOne(one)
    await one.ask('FETCH')
    expect(await one.ask(`BATCH OPEN ${bid}`)).toBe(`$${bid.length}\r\n${bid}`)
    await one.push('job00002', { custom: { bid } })
    await one.ask('ACK {"jid":"job00001"}')
    await commit(one, bid)
    expect(await statusOf(one, bid)).toMatchObject({ total: 2, pending: 1 })
    await run(one)
    expect(await run(one, 'calls')).toMatchObject({ jid: 'complete1' })
  })

  test('calls back success although its complete callback died, and complete when that is requeued', async () => {
    const one = await gateways.client({ wid: 'w1' })
    const bid = await newBatch(one, { success, complete: { ...complete, retry: -1 } })
    await commit(one, bid)
    await one.ask('FETCH calls')
    expect(await one.ask('FAIL {"jid":"complete1"}')).toBe('+OK')
    expect(await statusOf(one, bid)).toMatchObject({ complete_st: '1', success_st: '1' })
    expect(await run(one, 'calls')).toMatchObject({ jobtype: 'succeeded' })
    await one.ask('MUTATE {"cmd":"requeue","target":"dead"}')
    expect(await run(one, 'calls')).toMatchObject({ jid: 'complete1' })
    expect(await statusOf(one, bid)).toMatchObject({ complete_st: '2', success_st: '2' })
  })

  test('that succeeded is opened and added to again', async () => {
    const one = await gateways.client({ wid: 'w1' })
    const bid = await newBatch(one, { success })
    await commit(one, bid)
    await run(one, 'calls')
    expect(await one.ask(`BATCH OPEN ${bid}`)).toContain(bid)
    expect(await one.push('job00001', { custom: { bid } })).toBe('+OK')
    expect(await commit(one, bid)).toBe('+OK')
    expect(await one.push('job00002', { custom: { bid } })).toBe('+OK')
    expect(await statusOf(one, bid)).toMatchObject({ total: 2, pending: 2, success_st: '2' })
    await run(one)
    await run(one)
    expect((await one.askJson('INFO'))['faktory']).toMatchObject({ total_enqueued: 0 })
  })

  test('that is a parent calls back after both callbacks of its child', async () => {
    const one = await gateways.client({ wid: 'w1' })
    const parent = await newBatch(one)
    const child = await newBatch(one, {
      parent_bid: parent,
      complete: { jobtype: 'cc', args: [] },
      success: { jobtype: 'cs', args: [] },
    })
    await commit(one, child)
    await commit(one, parent)
    expect(await run(one)).toMatchObject({ jobtype: 'cc' })
    expect(await statusOf(one, parent)).toMatchObject({ complete_st: '' })
    expect(await run(one)).toMatchObject({ jobtype: 'cs' })
    expect(await statusOf(one, parent)).toMatchObject({ complete_st: '1' })
    expect(await run(one, 'calls')).toMatchObject({ jobtype: 'completed' })
    expect(await run(one, 'calls')).toMatchObject({ jobtype: 'succeeded' })
  })

  test('a parent is complete after its children', async () => {
    const one = await gateways.client({ wid: 'w1' })
    const parent = await newBatch(one)
    const child = await newBatch(one, { parent_bid: parent, success: { jobtype: 'c', args: [] } })
    await one.push('job00001', { custom: { bid: child } })
    await commit(one, child)
    await commit(one, parent)
    await run(one)
    expect(await statusOf(one, parent)).toMatchObject({ complete_st: '', success_st: '' })
    expect(await run(one)).toMatchObject({ jobtype: 'c' })
    expect(await run(one, 'calls')).toMatchObject({ jobtype: 'completed' })
    expect(await run(one, 'calls')).toMatchObject({ jobtype: 'succeeded' })
    expect(await statusOf(one, child)).toMatchObject({ parent_bid: parent })
  })

  test('FLUSH deletes batches without calling back', async () => {
    const one = await gateways.client()
    const bid = await batchOfOne(one)
    await one.ask('FLUSH')
    expect(await one.ask(`BATCH STATUS ${bid}`)).toBe(`-ERR No such batch ${bid}`)
    expect((await one.askJson('INFO'))['faktory']).toMatchObject({ total_enqueued: 0 })
  })
})
