import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Opens connections that take whatever happens to them. */
export function openMany(
  port: number,
  count: number,
  localAddress = '127.0.0.1',
): Promise<readonly Socket[]> {
  const open = async (): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    const connected = once(socket, 'connect')
    socket.on('error', () => socket.destroy())
    await connected
    return socket
  }
  return Promise.all(Array.from({ length: count }, open))
}

/** Writes the bytes again and again, or new ones each time, as fast as they are taken, until the connection ends. */
export function pour(socket: Socket, bytes: Buffer | ((round: number) => Buffer)): void {
  let round = 0
  const write = (): void => {
    if (socket.destroyed) return
    round += 1
    socket.write(typeof bytes === 'function' ? bytes(round) : bytes, (error) => {
      if (!error) setImmediate(write)
    })
  }
  write()
}

/** Sends a request; resolves when so many answers with the mark in them have come. */
export async function ask(
  socket: Socket,
  request: Buffer | string,
  mark: string,
  count = 1,
): Promise<void> {
  socket.write(request)
  let tail = ''
  for (let left = count; left > 0;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    const text = tail + chunk.toString('latin1')
    left -= text.split(mark).length - 1
    // Too short for a mark: none is counted twice.
    tail = text.slice(1 - mark.length)
  }
}

/** Sends each request once the one before has its answers, until the connection ends. */
export function askForEver(
  socket: Socket,
  next: () => Buffer | string,
  mark: string,
  count = 1,
): void {
  const go = async (): Promise<void> => {
    while (!socket.destroyed) await ask(socket, next(), mark, count)
  }
  go().catch(() => undefined)
}
