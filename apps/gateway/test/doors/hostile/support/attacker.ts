import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection that takes whatever happens to it. */
export async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** Resolves when the connection is gone, with what came before as one text. */
export async function closed(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk) => {
    if (text.length < 4096) text += chunk.toString('latin1')
  })
  if (!socket.closed) await once(socket, 'close')
  return text
}

/** Writes, and waits until all has left or the connection is gone. */
export async function push(socket: Socket, bytes: Buffer | string): Promise<void> {
  if (socket.destroyed) return
  await new Promise<void>((resolve) => {
    const done = (): void => {
      socket.off('close', done)
      resolve()
    }
    socket.once('close', done)
    socket.write(bytes, done)
  })
}

/** Says all, goes, and waits until the other side has noticed. */
export async function sayAndGo(port: number, bytes: Buffer | string): Promise<string> {
  const socket = await open(port)
  socket.end(bytes)
  return closed(socket)
}
