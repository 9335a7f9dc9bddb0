import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { StoreProbe } from '../src/probe.ts'

/** The port of a server that does so with each connection. */
async function serverThat(serve: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    serve(socket)
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

test('a probe of a silent server ends within its timeout', async () => {
  const port = await serverThat(() => undefined)
  const probe = await StoreProbe.open({ port }, 50)
  await expect(probe.command('PING')).rejects.toMatchObject({
    code: 'TIMEOUT',
    message: 'no answer within 50 ms',
  })
  await probe.closed
})

test.each([
  [
    'closes the connection',
    (socket: Socket) => socket.end(),
    'CLOSED',
    'the server closed the connection',
  ],
  [
    'speaks another protocol',
    (socket: Socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
    'PROTOCOL',
    'the answer is not that of a Redis server',
  ],
])('a server that %s is no Redis', async (_what, answer, code, message) => {
  const port = await serverThat((socket) => void socket.once('data', () => answer(socket)))
  const probe = await StoreProbe.open({ port }, 5_000)
  await expect(probe.command('PING')).rejects.toMatchObject({ code, message })
})

test('a login that is refused is the error of the server', async () => {
  const port = await serverThat((socket) =>
    socket.once('data', () => socket.write('-NOAUTH x\r\n')),
  )
  await expect(StoreProbe.open({ port, password: 'p' }, 5_000)).rejects.toMatchObject({
    code: 'REPLY',
    word: 'NOAUTH',
    isRefusedLogin: true,
  })
})

test('a server that is away gives the error of the system', async () => {
  await expect(StoreProbe.open({ path: '/no/such.sock' }, 5_000)).rejects.toMatchObject({
    code: 'ENOENT',
  })
})
