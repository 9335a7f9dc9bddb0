import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A side that is awaited and silent for longer is gone, milliseconds. */
export const usualWithinMs = 30_000

/** The port of a server. */
export interface ServerPort {
  /** 127.0.0.1. */
  readonly host?: string
  readonly port: number
}

/** Cuts the bytes of a connection into messages. */
interface Cutter<Message> {
  push(chunk: Buffer): void
  /** Throws for bytes that are not of its protocol. */
  next(): Message | undefined
}

/** One connection that sends bytes and receives messages, in order. */
export class Link<Message> {
  readonly socket: Socket
  /** Settles when the connection has ended, by whomever. */
  readonly over: Promise<void>
  readonly #cutter: Cutter<Message>
  readonly #withinMs: number
  readonly #arrived: Message[] = []
  readonly #waiting: PromiseResolvers<Message>[] = []
  #silence: ReturnType<typeof setTimeout> | undefined
  #failure: Error | undefined

  /** `withinMs`: a side that is awaited and silent for longer is gone. */
  constructor(socket: Socket, cutter: Cutter<Message>, withinMs = Infinity) {
    this.socket = socket
    this.#cutter = cutter
    this.#withinMs = withinMs
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', (error) => this.#fail(error))
    // A write after the other side's end would fail in other words.
    for (const event of ['end', 'close']) {
      socket.on(event, () => this.#fail(new Error('the connection was closed')))
    }
    this.over = new Promise((resolve) => socket.once('close', () => resolve()))
  }

  /** True once nothing more comes. */
  get isOver(): boolean {
    return this.#failure !== undefined
  }

  write(bytes: Uint8Array | string): void {
    this.socket.write(bytes)
  }

  /** The next message. Rejects at the end of the connection. */
  next(): Promise<Message> {
    const first = this.#arrived.shift()
    if (first !== undefined) return Promise.resolve(first)
    if (this.#failure) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      if (this.#waiting.length === 1) this.#watch()
    })
  }

  close(): void {
    this.socket.destroy()
  }

  /** Settles when everything was sent, and the connection has ended. */
  async end(): Promise<void> {
    this.socket.end()
    if (!this.socket.destroyed) await this.over
  }

  #read(chunk: Buffer): void {
    try {
      this.#cutter.push(chunk)
      for (let message = this.#cutter.next(); message; message = this.#cutter.next()) {
        const waiting = this.#waiting.shift()
        if (waiting) waiting.resolve(message)
        else this.#arrived.push(message)
      }
    } catch (error) {
      this.socket.destroy(error instanceof Error ? error : new Error(String(error)))
    }
    this.#watch()
  }

  #watch(): void {
    clearTimeout(this.#silence)
    if (this.#waiting.length === 0 || this.#withinMs === Infinity) return
    this.#silence = setTimeout(() => this.socket.destroy(silence(this.#withinMs)), this.#withinMs)
  }

  #fail(error: Error): void {
    clearTimeout(this.#silence)
    this.#failure ??= error
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure)
  }
}

interface PromiseResolvers<Value> {
  readonly resolve: (value: Value) => void
  readonly reject: (error: Error) => void
}

/** A socket that is connected. `withinMs`: for how long it is tried. */
export async function connected(
  { host = '127.0.0.1', port }: ServerPort,
  withinMs = usualWithinMs,
): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true })
  const timer = setTimeout(() => socket.destroy(silence(withinMs)), withinMs)
  try {
    await once(socket, 'connect')
    return socket
  } finally {
    clearTimeout(timer)
  }
}

function silence(withinMs: number): Error {
  return new Error(`no answer in ${withinMs / 1_000} s`)
}
