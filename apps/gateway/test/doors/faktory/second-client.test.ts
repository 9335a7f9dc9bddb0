import Client from 'faktory-client'
import { expect, onTestFinished, test } from 'vitest'
import { describeFaktory } from './support/faktory-gateway.ts'
import { figures, nothing } from './support/figures.ts'

describeFaktory('the npm package faktory-client', (gateways) => {
  async function connected(port: number, options: { wid?: string; password?: string } = {}) {
    const { wid, password } = options
    const secret = password === undefined ? '' : `:${password}@`
    const url = `tcp://${secret}127.0.0.1:${port}`
    const client = await new Client({ url, ...(wid !== undefined && { wid }) }).connect()
    onTestFinished(() => client.close())
    return client
  }

  test('pushes, fetches, fails and acknowledges', async () => {
    const { port, client } = await gateways.open({ fetchBlocksMs: 20 })
    const [producer, worker] = [await connected(port), await connected(port, { wid: 'w-1' })]
    const good = await producer.push({ jobtype: 'mail', args: ['a', { b: 1 }], queue: 'bulk' })
    const bad = await producer.push({ jobtype: 'mail', args: [], queue: 'bulk' })
    expect(await worker.fetch('critical', 'bulk')).toMatchObject({
      jid: good,
      jobtype: 'mail',
      args: ['a', { b: 1 }],
      queue: 'bulk',
      retry: 25,
    })
    expect(await worker.ack(good)).toBe('OK')
    expect(await worker.fetch('bulk')).toMatchObject({ jid: bad })
    expect(await worker.fail(bad, new Error('boom'))).toBe('OK')
    expect(await worker.beat()).toBe('OK')
    expect((await producer.info()).faktory).toMatchObject({ total_failures: 1 })
    const expected = { ...nothing, retries: 1, processed: 2, failures: 1 }
    expect(await figures(await client())).toEqual(expected)
    expect(await producer.flush()).toBe('OK')
    expect((await producer.info()).faktory).toMatchObject({ sets: { retries: 0 } })
  })

  test('proves that it knows the password', async () => {
    const { port } = await gateways.open({ password: 'sesame' })
    const client = await connected(port, { password: 'sesame' })
    expect(await client.push({ jobtype: 'mail' })).toEqual(expect.any(String))
  })

  test('gets the quiet and terminate orders', async () => {
    const { port, scheduler } = await gateways.open()
    const worker = await connected(port, { wid: 'w-1' })
    await scheduler.queues.order('w-1', 'quiet')
    await expect.poll(() => worker.beat()).toBe('quiet')
    await scheduler.queues.order('*', 'terminate')
    await expect.poll(() => worker.beat()).toBe('terminate')
  })
})
