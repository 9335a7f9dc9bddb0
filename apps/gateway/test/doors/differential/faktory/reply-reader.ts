import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection whose replies are read one by one, in the words of the recordings. */
export class ReplyReader {
  /** The greeting, once it was read. */
  hi: string | undefined
  readonly #socket: Socket
  #received = Buffer.alloc(0)
  #hasEnded = false
  #wake = (): void => undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake()
    })
    socket.on('error', () => undefined)
    const ended = (): void => {
      this.#hasEnded = true
      this.#wake()
    }
    socket.on('end', ended)
    socket.on('close', ended)
  }

  static async connect(port: number): Promise<ReplyReader> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new ReplyReader(socket)
  }

  /** False once this client has closed its half, or the server has ended. */
  get isOpen(): boolean {
    return this.#socket.writable && !this.#hasEnded
  }

  send(line: string): void {
    this.#socket.write(`${line}\r\n`)
  }

  /** Settles when the bytes are with the system. */
  async write(bytes: Buffer): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#socket.write(bytes, () => resolve())
    })
  }

  end(): void {
    this.#socket.end()
  }

  close(): void {
    this.#socket.destroy()
  }

  /** The next reply; `nothing` if none comes in time. */
  async next(patienceMs: number): Promise<string> {
    const endMs = performance.now() + patienceMs
    for (;;) {
      const reply = this.#take()
      if (reply?.startsWith('+HI ')) this.hi = reply
      if (reply !== undefined) return reply
      if (this.#hasEnded) return 'EOF'
      const leftMs = endMs - performance.now()
      if (leftMs <= 0) return 'nothing'
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  #take(): string | undefined {
    const lineEnd = this.#received.indexOf('\r\n')
    if (lineEnd < 0) return undefined
    const line = textOf(this.#received.subarray(0, lineEnd))
    const bulk = /^\$(\d+)$/.exec(line)
    const bodyEnd = bulk ? lineEnd + 2 + Number(bulk[1]) : lineEnd
    if (this.#received.length < bodyEnd + 2) return undefined
    const body = this.#received.subarray(lineEnd + 2, bodyEnd)
    this.#received = this.#received.subarray(bodyEnd + 2)
    return bulk ? `$ ${body.toString()}` : line
  }
}

function textOf(bytes: Buffer): string {
  const text = bytes.toString()
  return Buffer.from(text).equals(bytes) ? text : `latin1:${bytes.toString('latin1')}`
}
