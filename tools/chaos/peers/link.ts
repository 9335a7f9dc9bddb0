import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Cuts the bytes of a connection into messages. */
export interface Cutter<Message> {
  push(chunk: Buffer): void
  next(): Message | undefined
}

/** Time for a connection to open, milliseconds. */
const openWithinMs = 3_000

/** One connection that sends bytes and receives messages, in order. Readers learn of its end. */
export class Link<Message> {
  readonly #socket: Socket
  readonly #heard: Message[] = []
  readonly #waiting: { resolve: (message: Message) => void; reject: (why: Error) => void }[] = []
  #closed = false
  /** Settles when the connection has ended, by whomever. */
  readonly ended: Promise<void>

  private constructor(socket: Socket, cutter: Cutter<Message>) {
    this.#socket = socket
    this.ended = new Promise((resolve) => {
      socket.once('close', () => {
        this.#closed = true
        for (const { reject } of this.#waiting.splice(0)) reject(new Error('connection lost'))
        resolve()
      })
    })
    socket.on('error', () => socket.destroy())
    socket.on('end', () => socket.destroy())
    socket.on('data', (chunk) => {
      cutter.push(chunk)
      for (let message = cutter.next(); message; message = cutter.next()) {
        const first = this.#waiting.shift()
        if (first) first.resolve(message)
        else this.#heard.push(message)
      }
    })
  }

  static async open<Message>(port: number, cutter: Cutter<Message>): Promise<Link<Message>> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const timer = setTimeout(() => socket.destroy(new Error('no connection in time')), openWithinMs)
    try {
      await once(socket, 'connect')
    } finally {
      clearTimeout(timer)
    }
    return new Link(socket, cutter)
  }

  get closed(): boolean {
    return this.#closed
  }

  send(bytes: Buffer | string): void {
    this.#socket.write(bytes)
  }

  /** The next message. A peer silent for longer counts as gone. */
  async next(withinMs: number): Promise<Message> {
    const there = this.#heard.shift()
    if (there !== undefined) return there
    if (this.#closed) throw new Error('connection lost')
    const timer = setTimeout(() => this.close(), withinMs)
    try {
      return await new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
    } finally {
      clearTimeout(timer)
    }
  }

  close(): void {
    this.#socket.destroy()
  }
}
