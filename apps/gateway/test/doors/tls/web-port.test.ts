import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as connectPlain } from 'node:net'
import { connect } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readTls } from '../../../src/doors/net/tls.ts'
import { Metrics } from '../../../src/operations/metrics/metrics.ts'
import { serverOf, WebConnections } from '../../../src/web/web-connections.ts'
import { createWebServer } from '../../../src/web/web-server.ts'
import { figuresOf } from '../../support/metrics-page.ts'
import { portOfTest } from '../../support/port-of-test.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { askSecurely } from './support/ask-securely.ts'
import { type KeyPair, lacksOpenssl, makeCertificates } from './support/certificates.ts'

function tlsOf(files: KeyPair) {
  const tls = readTls(files, { cert: '--cert', key: '--key' })
  if (!tls) throw new Error('no TLS')
  return tls
}

async function open(files: KeyPair, handshakeMs = 10_000) {
  const limited: string[] = []
  const web = createWebServer({
    figures: figuresOf(new Metrics()),
    check: () => Promise.resolve({ ready: true }),
    log: recordingLog().log,
    tls: { ...tlsOf(files), handshakeMs },
    hooks: { limited: (limit, address = '') => void limited.push(`${limit} ${address}`) },
  })
  onTestFinished(() => web.close())
  const { port } = await web.listen({ host: '127.0.0.1', port: 0 })
  return { port, limited, web }
}

describe.skipIf(lacksOpenssl)('a web port with a certificate', () => {
  test('answers a client that trusts it, one request after the other and many ahead', async () => {
    const { server } = await makeCertificates()
    const { port, limited } = await open(server)
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await askSecurely(port, path, server)).status).toBe(200)
    }
    const socket = connect({ port, host: '127.0.0.1', ca: readFileSync(server.cert) })
    onTestFinished(() => void socket.destroy())
    const many = 250
    const last = 'GET /healthz HTTP/1.1\r\nHost: x.localhost\r\nConnection: close\r\n\r\n'
    socket.write(last.replace('Connection: close\r\n', '').repeat(many - 1) + last)
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await once(socket, 'close')
    expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(many)
    expect(limited).toEqual([])
  })

  test('closes the connection of a client that does not use TLS, and counts it', async () => {
    const { server } = await makeCertificates()
    const { port, limited } = await open(server)
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
    await expect.poll(() => limited).toEqual(['tls_handshake 127.0.0.1'])
  })

  test('closes the connection of a client that begins no handshake in time', async () => {
    const { server } = await makeCertificates()
    const { port, limited } = await open(server, 20)
    await once(connectPlain(port, '127.0.0.1').resume(), 'close')
    expect(limited).toEqual(['tls_slow 127.0.0.1'])
  })

  test('shows a renewed certificate to the next client', async () => {
    const { server } = await makeCertificates()
    const renewed = (await makeCertificates()).server
    const { port, web } = await open(server)
    await askSecurely(port, '/healthz', server)
    web.renewTls(tlsOf(renewed))
    await expect(askSecurely(port, '/healthz', server)).rejects.toThrow()
    expect((await askSecurely(port, '/healthz', renewed)).status).toBe(200)
  })

  test('lets a stalled handshake yield to a new client, and no request that is worked on', async () => {
    const { server: files } = await makeCertificates()
    const server = serverOf(tlsOf(files))
    const held: (() => void)[] = []
    server.on('request', ({ url }, response) => {
      if (url === '/held') held.push(() => response.end('held'))
      else response.end('well')
    })
    const limited: string[] = []
    const bounds = { connections: 4, ofAddress: 3 }
    new WebConnections(server, bounds).report({ limited: (limit) => void limited.push(limit) })
    const port = await portOfTest(server)
    onTestFinished(() => server.closeAllConnections())
    const asked = askSecurely(port, '/held', files)
    await expect.poll(() => held.length).toBe(1)
    const stalled = Array.from({ length: 2 }, () => connectPlain(port, '127.0.0.1').resume())
    await Promise.all(stalled.map((socket) => once(socket, 'connect')))
    for (const socket of stalled) {
      const ended = once(socket, 'close')
      const client = connect({ port, host: '127.0.0.1', ca: readFileSync(files.cert) })
      onTestFinished(() => void client.destroy())
      await Promise.all([once(client, 'secureConnect'), ended])
    }
    expect((await askSecurely(port, '/', files)).text).toBe('well')
    held.forEach((answer) => answer())
    expect((await asked).text).toBe('held')
    const yielded = Array.from({ length: 3 }, () => 'address_connections')
    const unfinished = Array.from({ length: 2 }, () => 'tls_handshake')
    await expect.poll(() => limited.toSorted()).toEqual([...yielded, ...unfinished])
  })
})
