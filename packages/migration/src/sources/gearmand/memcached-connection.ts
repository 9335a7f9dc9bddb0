import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A value as it is kept. */
export interface Item {
  readonly key: Buffer
  readonly flags: number
  readonly data: Buffer
  /** Changes with each write. */
  readonly cas: string
}

const connectWithinMs = 10_000
/** A server silent for this long is away. */
const answerWithinMs = 30_000
/** A key has 250 bytes at most, three characters each. */
const maxLineBytes = 8_192
const lineFeed = 0x0a

/** memcached's text protocol, one request at a time; reads with backpressure. */
export class MemcachedConnection {
  readonly #socket: Socket
  readonly #chunks: AsyncIterator<Buffer, undefined>
  #buffer: Buffer = Buffer.alloc(0)
  #isWaiting = false

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#chunks = (socket as AsyncIterable<Buffer, undefined>)[Symbol.asyncIterator]()
    socket.setTimeout(answerWithinMs, () => {
      if (this.#isWaiting) socket.destroy(new Error('the server does not answer'))
    })
  }

  static async open(host: string, port: number): Promise<MemcachedConnection> {
    const socket = connect({ host, port, noDelay: true })
    socket.setTimeout(connectWithinMs, () => socket.destroy(new Error('connect timed out')))
    await once(socket, 'connect')
    socket.setTimeout(0)
    // Errors are reported by the call that meets them.
    socket.on('error', () => undefined)
    return new MemcachedConnection(socket)
  }

  send(...pieces: readonly (string | Buffer)[]): void {
    for (const piece of pieces) this.#socket.write(piece)
  }

  /** The next line without its end. */
  async line(): Promise<string> {
    for (let from = 0; ;) {
      const end = this.#buffer.indexOf(lineFeed, from)
      if (end >= 0) {
        const line = this.#buffer.toString('latin1', 0, end).replace(/\r$/, '')
        this.#buffer = this.#buffer.subarray(end + 1)
        return line
      }
      from = this.#buffer.length
      if (from > maxLineBytes) throw new Error('the server does not speak the text protocol')
      await this.#more()
    }
  }

  /** Lines up to `END`. Throws for an error line. */
  async *lines(): AsyncGenerator<string> {
    for (;;) {
      const line = await this.line()
      if (line === 'END') return
      if (/^(ERROR|CLIENT_ERROR|SERVER_ERROR)/.test(line)) {
        throw new Error(`the server says ${line}`)
      }
      yield line
    }
  }

  /** Items of keys; those that are there. */
  async items(keys: readonly Buffer[]): Promise<readonly Item[]> {
    const words = keys.flatMap((key) => [Buffer.from(' '), key])
    this.send(Buffer.concat([Buffer.from('gets'), ...words, Buffer.from('\r\n')]))
    const found: Item[] = []
    for await (const line of this.lines()) {
      const [, key = '', flags, length, cas = ''] =
        /^VALUE (\S+) (\d+) (\d+) (\d+)/.exec(line) ?? []
      const data = await this.#bytes(Number(length))
      await this.line()
      found.push({ key: Buffer.from(key, 'latin1'), flags: Number(flags), data, cas })
    }
    return found
  }

  close(): void {
    this.#socket.destroy()
  }

  async #bytes(length: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    for (let left = length; left > 0;) {
      if (this.#buffer.length === 0) await this.#more()
      const piece = this.#buffer.subarray(0, left)
      this.#buffer = this.#buffer.subarray(piece.length)
      pieces.push(piece)
      left -= piece.length
    }
    return Buffer.concat(pieces)
  }

  async #more(): Promise<void> {
    this.#isWaiting = true
    const { value, done } = await this.#chunks.next()
    this.#isWaiting = false
    if (done === true) throw new Error('the server has closed the connection')
    this.#buffer = this.#buffer.length === 0 ? value : Buffer.concat([this.#buffer, value])
  }
}
