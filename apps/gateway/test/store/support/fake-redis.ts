import { createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { portOfTest } from '../../support/port-of-test.ts'

/** A server that says of each chunk of commands what `answer` says, until the test ends; its port. */
export async function fakeRedis(answer: (sent: string) => string): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk) => socket.write(`${answer(chunk.toString())}\r\n`))
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  return portOfTest(server)
}

/** The address of the server, as the store's. */
export async function fakeAddress(answer: (sent: string) => string) {
  return { host: '127.0.0.1', port: await fakeRedis(answer), tls: false, db: 0 }
}
