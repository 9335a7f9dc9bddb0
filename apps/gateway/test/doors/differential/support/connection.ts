import { connect, type Socket } from 'node:net'
import { encodeRequest } from '@crossgear/gearman-codec'
import { MessageReader, type Message } from './message-reader.ts'

const barrierMark = '~barrier'

/** One connection to a server: sends bytes, and collects those that it receives. */
export class Connection {
  readonly #socket: Socket
  readonly #reader = new MessageReader()
  #heard: Message[] = []
  readonly #looks = new Set<() => void>()
  #barriers = 0
  #barriersHeard = 0
  #closed = false
  #left = false
  /** The connection has said the beginning of something. */
  isMidway = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk) => this.#take(chunk))
    socket.on('end', () => this.#ended())
    socket.on('close', () => this.#ended())
  }

  /** A port that nobody listens on gives a connection that the server has ended. */
  static async open(port: number): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const connection = new Connection(socket)
    await new Promise<void>((resolve) => {
      socket.once('connect', resolve)
      socket.once('close', () => resolve())
    })
    return connection
  }

  /** The server has ended it. */
  get wasEnded(): boolean {
    return this.#closed && !this.#left
  }

  get isOpen(): boolean {
    return !this.#closed
  }

  /** How many messages wait to be taken; the end of the connection is one. */
  get count(): number {
    return this.#heard.length + (this.wasEnded ? 1 : 0)
  }

  send(bytes: Buffer): void {
    if (this.isOpen) this.#socket.write(bytes)
  }

  /** Each byte for itself, as far as the system lets them travel alone. */
  async sendByteByByte(bytes: Buffer): Promise<void> {
    for (const byte of bytes) {
      await new Promise<void>((resolve) => {
        this.#socket.write(Buffer.of(byte), () => setImmediate(resolve))
      })
    }
  }

  /** Resolves when the server has answered all that was said, or has ended the connection. */
  async barrier(): Promise<void> {
    if (!this.isOpen || this.isMidway) return
    this.#barriers += 1
    const number = this.#barriers
    this.send(encodeRequest('ECHO_REQ', barrierMark))
    await this.waitFor(() => this.#barriersHeard >= number || !this.isOpen)
  }

  /** Resolves when the condition holds; false where it does not before the deadline. */
  waitFor(holds: () => boolean, withinMs = 60_000): Promise<boolean> {
    if (holds()) return Promise.resolve(true)
    return new Promise((resolve) => {
      const done = (result: boolean): void => {
        clearTimeout(timer)
        this.#looks.delete(look)
        resolve(result)
      }
      const look = (): void => {
        if (holds()) done(true)
      }
      const timer = setTimeout(() => done(holds()), withinMs)
      this.#looks.add(look)
    })
  }

  /** Messages that came since the last call. */
  take(): readonly Message[] {
    const heard = this.#heard
    this.#heard = []
    return heard
  }

  /** The lines of a reply that ends with a lone dot. */
  async list(command: string): Promise<readonly string[]> {
    this.send(Buffer.from(`${command}\n`))
    const isDot = (message: Message): boolean => message.body.equals(Buffer.from('.\n'))
    await this.waitFor(() => this.#heard.some(isDot) || !this.isOpen)
    return this.take().map(({ body }) => body.toString('latin1'))
  }

  close(): void {
    this.#left = true
    this.#socket.destroy()
    this.#ended()
  }

  #take(chunk: Buffer): void {
    for (const message of this.#reader.push(chunk)) {
      if (isBarrier(message)) this.#barriersHeard += 1
      else this.#heard.push(message)
    }
    for (const look of Array.from(this.#looks)) look()
  }

  #ended(): void {
    this.#closed = true
    this.#socket.destroy()
    for (const look of Array.from(this.#looks)) look()
  }
}

function isBarrier(message: Message): boolean {
  return (
    message.kind === 'packet' &&
    message.name === 'ECHO_RES' &&
    message.body.toString('latin1') === barrierMark
  )
}
