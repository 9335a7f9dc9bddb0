import { once } from 'node:events'
import { Agent, get, type IncomingMessage, type Server, createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Metrics } from '../../src/operations/metrics/metrics.ts'
import {
  WebConnections,
  type WebConnectionEvents,
  webTimes,
} from '../../src/web/web-connections.ts'
import { createWebServer } from '../../src/web/web-server.ts'
import { figuresOf } from '../support/metrics-page.ts'
import { recordingLog } from '../support/recording-log.ts'
import { portOfTest } from '../support/port-of-test.ts'

const limits = { connections: 4, ofAddress: 3 }

/** A web port with few connections, whose page `/held` is answered on `release`. */
async function open(times: Partial<typeof webTimes> = {}) {
  const limited: string[] = []
  const held: (() => void)[] = []
  const events: WebConnectionEvents = { limited: (limit) => void limited.push(limit) }
  const server: Server = createServer({ ...webTimes, ...times }, ({ url }, response) => {
    if (url === '/held') held.push(() => response.end('held'))
    else response.end('well')
  })
  new WebConnections(server, limits).report(events)
  const port = await portOfTest(server)
  onTestFinished(() => server.closeAllConnections())
  const idle = async (localAddress = '127.0.0.1'): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    socket.on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  const ask = async (path: string, agent: Agent | false = false): Promise<string> => {
    const asking = get({ port, host: '127.0.0.1', path, agent })
    const [answer] = (await once(asking, 'response')) as [IncomingMessage]
    let text = ''
    for await (const chunk of answer) text += String(chunk)
    return text
  }
  return { limited, idle, ask, held, release: () => held.splice(0).map((answer) => answer()) }
}

describe('a web port whose connections are all taken by idle clients', () => {
  test('answers a probe from the same address: the oldest idle one yields', async () => {
    const { idle, ask, limited } = await open()
    const first = await idle()
    const sockets = [first, await idle(), await idle()]
    const ended = once(first, 'close')
    expect(await ask('/healthz')).toBe('well')
    await ended
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, false, false])
    expect(limited).toEqual(['address_connections'])
  })

  test('answers a probe from another address, too', async () => {
    const { idle, ask, limited } = await open()
    for (const address of ['127.0.0.2', '127.0.0.2', '127.0.0.2', '127.0.0.3']) await idle(address)
    expect(await ask('/healthz')).toBe('well')
    expect(limited).toEqual(['connections'])
  })

  test('lets no client yield whose request is worked on', async () => {
    const { idle, ask, held, release, limited } = await open()
    const asked = ask('/held')
    await expect.poll(() => held.length).toBe(1)
    for (let n = 0; n < 5; n += 1) await idle()
    expect(await ask('/healthz')).toBe('well')
    release()
    expect(await asked).toBe('held')
    expect(limited.length).toBeGreaterThanOrEqual(4)
  })

  test('refuses where each request is worked on', async () => {
    const { ask, held, limited } = await open()
    for (let n = 0; n < 3; n += 1) ask('/held').catch(() => undefined)
    await expect.poll(() => held.length).toBe(3)
    await expect(ask('/healthz')).rejects.toThrow()
    expect(limited).toEqual(['address_connections'])
  })

  test('ends a client that sends no head in time, and says so', async () => {
    const { idle, limited } = await open({
      headersTimeout: 40,
      connectionsCheckingInterval: 10,
    })
    const socket = await idle()
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 408 /)
    expect(limited).toEqual(['too_slow'])
  })
})

test('1,100 idle connections from one address keep no probe from being answered', async () => {
  const limited = new Set<string>()
  const web = createWebServer({
    figures: figuresOf(new Metrics()),
    log: recordingLog().log,
    check: () => Promise.resolve({ ready: true }),
    hooks: { limited: (limit, address) => void limited.add(`${limit} ${address ?? ''}`) },
  })
  onTestFinished(() => web.close())
  const { port } = await web.listen({ host: '127.0.0.1', port: 0 })
  const sockets = Array.from({ length: 1_100 }, () => connect(port, '127.0.0.1'))
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
  for (const socket of sockets) socket.on('error', () => undefined)
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(200)
  }
  expect([...limited]).toEqual(['address_connections 127.0.0.1'])
})

test('keeps a connection without a request for longer than proxies keep theirs', async () => {
  const web = createWebServer({
    figures: figuresOf(new Metrics()),
    log: recordingLog().log,
    check: () => Promise.resolve({ ready: true }),
  })
  onTestFinished(() => web.close())
  const { port } = await web.listen({ host: '127.0.0.1', port: 0 })
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const asking = get({ port, host: '127.0.0.1', path: '/healthz', agent })
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  answer.resume()
  expect(answer.headers['keep-alive']).toBe('timeout=75')
})
