import { once } from 'node:events'
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { expect, test, onTestFinished } from 'vitest'
import { callBounds } from '../../../src/web/api/limits/call-cost.ts'
import { EventStream, streamBounds } from '../../../src/web/api/event-stream.ts'
import { type ApiGateway, apiOnRedis } from './support/api-gateway.ts'
import { portOfTest } from '../../support/port-of-test.ts'

const { describeApi, openApi } = apiOnRedis()

/** A client that watches, and the overviews as they come. */
async function watch({ port }: ApiGateway) {
  const asking = get({ port, host: '127.0.0.1', path: '/api/v1/events', agent: false })
  onTestFinished(() => void asking.destroy())
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  async function* overviews(): AsyncGenerator<{ at: string; waiting: number }> {
    let text = ''
    for await (const chunk of answer) {
      text += String(chunk)
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const [, data] = /^event: overview\ndata: (.*)$/.exec(text.slice(0, end)) ?? []
        text = text.slice(end + 2)
        if (data !== undefined) yield JSON.parse(data) as { at: string; waiting: number }
      }
    }
  }
  return { answer, overviews: overviews(), leave: () => asking.destroy() }
}

describeApi('the API under load', () => {
  test('sends all viewers the same changes once a second', async () => {
    const api = await openApi()
    const [one, other] = [await watch(api), await watch(api)]
    expect(one.answer.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    await one.overviews.next()
    const client = await api.gateway.peer()
    await client.submit('SUBMIT_JOB_BG', 'f', '', 'x')
    const seen = async (viewer: typeof one): Promise<string> => {
      for await (const { at, waiting } of viewer.overviews) if (waiting === 1) return at
      throw new Error('the stream ended')
    }
    expect(await seen(one)).toBe(await seen(other))
  })

  test('has a bounded number of viewers; one that leaves makes room for another', async () => {
    const api = await openApi()
    const viewers = []
    for (let at = 0; at < streamBounds.viewers; at += 1) viewers.push(await watch(api))
    expect(await api.refusal('/events')).toEqual([429, 'too_many_requests'])
    expect([...api.limits]).toEqual(['too_many_viewers'])
    viewers[0]?.leave()
    await expect.poll(async () => (await watch(api)).answer.statusCode).toBe(200)
  })

  test('refuses calls over the limit when a thousand arrive at once, while the doors keep working', async () => {
    const api = await openApi()
    const client = await api.gateway.peer()
    const worker = await api.gateway.peer('g')
    for (let job = 0; job < 300; job += 1) client.send('SUBMIT_JOB_BG', 'f', '', 'x')
    await client.receiveMany(300)
    // As many connections as a port takes at once without a wait.
    const agent = new Agent({ keepAlive: true, maxSockets: 250 })
    onTestFinished(() => agent.destroy())
    const paths = ['jobs?limit=1000', 'jobs?text=x', 'jobs?state=retry']
    const calls = Promise.all(
      Array.from({ length: 1_000 }, (_none, at) =>
        api.ask(`/api/v1/${paths[at % paths.length]}`, { agent }),
      ),
    )
    for (let job = 0; job < 20; job += 1) {
      const handle = await client.submit('SUBMIT_JOB', 'g', '', 'x')
      expect((await worker.ask('GRAB_JOB'))[0]).toBe('JOB_ASSIGN')
      worker.send('WORK_COMPLETE', handle, '')
      expect((await client.receive())[0]).toBe('WORK_COMPLETE')
      // Light calls have a part of their own.
      expect((await api.ask('/api/v1/overview')).status).toBe(200)
    }
    const replies = await calls
    const done = replies.filter(({ status }) => status === 200)
    const refused = replies.filter(({ status }) => status !== 200)
    const { atOnce, waiting } = callBounds.heavy
    expect(done.length).toBeGreaterThanOrEqual(atOnce + waiting)
    expect(refused.length).toBeGreaterThan(0)
    for (const { status, code, headers } of refused) {
      expect([status, code]).toEqual([429, 'too_many_requests'])
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1)
    }
    expect([...api.limits]).toContain('too_many_calls')
    await expect.poll(async () => (await api.ask('/api/v1/jobs?text=x')).status).toBe(200)
  })

  test('drops a viewer that reads nothing, and buffers no more than the bound for it', async () => {
    const told: ServerResponse[] = []
    const overview = { status: 200, body: { text: 'x'.repeat(60_000) } }
    const stream = new EventStream({ call: () => Promise.resolve(overview) }, undefined, 1)
    const server = createServer((_request, response) => {
      told.push(response)
      stream.add(response)
    })
    onTestFinished(() => stream.close())
    const socket = connect(await portOfTest(server), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    // The socket is never read: what the kernel does not take waits in the gateway.
    socket.pause()
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(server, 'request')
    const [viewer] = told
    let max = 0
    const closed = once(viewer!, 'close')
    const watching = setInterval(() => (max = Math.max(max, viewer!.writableLength)), 1)
    onTestFinished(() => clearInterval(watching))
    await closed
    const message = JSON.stringify(overview.body).length + 100
    expect(max).toBeGreaterThan(0)
    expect(max).toBeLessThanOrEqual(streamBounds.unsentBytes + message)
  })

  test('ends the streams when the gateway does', async () => {
    const api = await openApi()
    const socket = connect(api.port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.write('GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(socket, 'data')
    const closed = once(socket, 'close')
    await api.close()
    socket.resume()
    await closed
  })
})
