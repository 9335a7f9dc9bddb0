import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as connectPlain } from 'node:net'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { Scheduler } from '@crossgear/core-scheduler'
import { RecordingObserver } from '@crossgear/tools/recording-observer'
import { encodeRequest } from '@crossgear/gearman-codec'
import { describe, expect, onTestFinished, test } from 'vitest'
import { FaktoryDoor } from '../../../src/doors/faktory/faktory-door.ts'
import { GearmanDoor } from '../../../src/doors/gearman/gearman-door.ts'
import { systemClock } from '../../../src/doors/net/clock.ts'
import { readTls, type TlsFiles } from '../../../src/doors/net/tls.ts'
import { GearmanPeer } from '../gearman/support/gearman-peer.ts'
import { openStoreInProcess } from '../../support/store-in-process.ts'
import { lacksOpenssl, makeCertificates, type KeyPair } from './support/certificates.ts'

async function openDoor(kind: 'gearman' | 'faktory', files: TlsFiles, handshakeMs = 10_000) {
  const { store } = await openStoreInProcess()
  const scheduler = new Scheduler(store, systemClock, new RecordingObserver())
  await scheduler.start()
  const rejections: string[] = []
  const tls = readTls(files, { cert: '--cert', key: '--key' })
  const common = {
    scheduler,
    host: '127.0.0.1',
    port: 0,
    version: '0.1.0',
    maxConnections: 10,
    rejected: (reason: string) => void rejections.push(reason),
    ...(tls && { tls: { ...tls, handshakeMs } }),
  }
  const door =
    kind === 'gearman'
      ? new GearmanDoor({ ...common, handlePrefix: 'H:test' })
      : new FaktoryDoor({ ...common, clock: systemClock })
  const { port } = await door.listen()
  onTestFinished(async () => {
    await door.close()
    await scheduler.stop()
  })
  return { port, rejections, door }
}

async function secured(port: number, server: KeyPair, own?: KeyPair): Promise<TLSSocket> {
  const options: ConnectionOptions = { port, host: '127.0.0.1', ca: readFileSync(server.cert) }
  const identity = own && { cert: readFileSync(own.cert), key: readFileSync(own.key) }
  const socket = connect({ ...options, ...identity })
  onTestFinished(() => void socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}

/** How the server greets the client's certificate: TLS 1.3 clients learn it with the first bytes. */
async function greeting(socket: TLSSocket): Promise<string> {
  socket.on('error', () => undefined)
  socket.write(encodeRequest('ECHO_REQ', 'hello'))
  return await new Promise<string>((resolve) => {
    socket.once('data', (chunk: Buffer) => resolve(chunk.subarray(-5).toString()))
    socket.once('close', () => resolve('closed'))
  })
}

describe.skipIf(lacksOpenssl)('a Gearman port with a certificate', () => {
  test('speaks Gearman to a client that trusts it', async () => {
    const { server } = await makeCertificates()
    const { port } = await openDoor('gearman', server)
    const worker = new GearmanPeer(await secured(port, server)).send('CAN_DO', 'f')
    const client = new GearmanPeer(await secured(port, server))
    const large = Buffer.alloc(3_000_000, 'x')
    const handle = await client.submit('SUBMIT_JOB', 'f', '', large)
    const [name] = await worker.ask('GRAB_JOB')
    expect(name).toBe('JOB_ASSIGN')
    worker.send('WORK_COMPLETE', handle, large)
    expect((await client.receiveBytes())?.equals(large)).toBe(true)
  })

  test('closes the connection of a client that does not use TLS, and counts it', async () => {
    const { server } = await makeCertificates()
    const { port, rejections } = await openDoor('gearman', server)
    const socket = connectPlain(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write('version\n')
    await once(socket, 'close')
    expect(rejections).toEqual(['tls_handshake'])
  })

  test('takes clients without a certificate, and with one that the authority signed', async () => {
    const { server, ca, client, stranger } = await makeCertificates()
    const { port, rejections } = await openDoor('gearman', { ...server, ca: ca.cert })
    expect(await greeting(await secured(port, server))).toBe('hello')
    expect(await greeting(await secured(port, server, client))).toBe('hello')
    expect(await greeting(await secured(port, server, stranger))).toBe('closed')
    expect(rejections).toEqual(['tls_handshake'])
  })

  test('refuses clients without a certificate if one is required', async () => {
    const { server, ca, client, stranger } = await makeCertificates()
    const files = { ...server, ca: ca.cert, requireClientCert: true }
    const { port, rejections } = await openDoor('gearman', files)
    const outcomes = []
    for (const own of [client, undefined, stranger]) {
      outcomes.push(await greeting(await secured(port, server, own)))
    }
    expect(outcomes).toEqual(['hello', 'closed', 'closed'])
    expect(rejections).toEqual(['tls_handshake', 'tls_handshake'])
  })

  test.each([
    ['TLSv1', false],
    ['TLSv1.1', false],
    ['TLSv1.2', true],
    ['TLSv1.3', true],
  ] as const)('a client that speaks %s alone is served: %s', async (version, isServed) => {
    const { server } = await makeCertificates()
    const { port, rejections } = await openDoor('gearman', server)
    const socket = connect({
      port,
      host: '127.0.0.1',
      ca: readFileSync(server.cert),
      minVersion: version,
      maxVersion: version,
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    onTestFinished(() => void socket.destroy())
    expect(await greeting(socket)).toBe(isServed ? 'hello' : 'closed')
    expect(rejections).toEqual(isServed ? [] : ['tls_handshake'])
  })

  test('greets a client while the handshakes of others stall', async () => {
    const { server } = await makeCertificates()
    const { port } = await openDoor('gearman', server)
    for (let at = 0; at < 5; at += 1) {
      const stalled = connectPlain(port, '127.0.0.1')
      onTestFinished(() => void stalled.destroy())
      await once(stalled, 'connect')
      // The begin of a ClientHello.
      stalled.write(Buffer.from([22, 3, 1, 2, 0, 1]))
    }
    expect(await greeting(await secured(port, server))).toBe('hello')
  })

  test('closes with its connections', async () => {
    const { server } = await makeCertificates()
    const { port, door } = await openDoor('gearman', server)
    const socket = await secured(port, server)
    socket.resume()
    await Promise.all([once(socket, 'close'), door.close()])
  })
})

describe.skipIf(lacksOpenssl)('a Faktory port with a certificate', () => {
  test('greets a client that trusts it with HI', async () => {
    const { server } = await makeCertificates()
    const { port } = await openDoor('faktory', server)
    const socket = await secured(port, server)
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    expect(chunk.toString()).toMatch(/^\+HI \{/)
  })
})

test.skipIf(lacksOpenssl).each(['gearman', 'faktory'] as const)(
  'a %s client that begins no handshake is ended in time, for a reason of its own',
  async (kind) => {
    const { server } = await makeCertificates()
    const { port, rejections } = await openDoor(kind, server, 20)
    const socket = connectPlain(port, '127.0.0.1').resume()
    await once(socket, 'close')
    expect(rejections).toEqual(['tls_slow'])
  },
)
