import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Decoder, encodeRequest, type Packet, type RequestName } from '@crossgear/gearman-codec'

type Argument = string | Uint8Array

const answerWithinMs = 30_000

/** A connection to a Gearman server: replies come in the order in which they are awaited. */
export class GearmanConnection {
  readonly #socket: Socket
  readonly #decoder = new Decoder()
  readonly #waiting: ((result: Message | Error) => void)[] = []
  readonly #arrived: Message[] = []
  #failure: Error | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.setTimeout(answerWithinMs, () => {
      if (this.#waiting.length > 0) socket.destroy(new Error('no answer in 30 s'))
    })
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', (error) => this.#fail(error))
    // A write after the server's end would fail in other words.
    for (const event of ['end', 'close']) {
      socket.on(event, () => this.#fail(new Error('the connection was closed')))
    }
  }

  static async open(host: string, port: number): Promise<GearmanConnection> {
    const socket = connect(port, host)
    await once(socket, 'connect')
    return new GearmanConnection(socket)
  }

  send(name: RequestName, ...args: readonly Argument[]): void {
    this.#socket.write(encodeRequest(name, ...args))
  }

  /** The next packet. Throws on ERROR, or at the end of the connection. */
  async packet(): Promise<Packet> {
    const packet = await this.answer()
    if (packet.name !== 'ERROR') return packet
    throw new Error(`the server says ${refusalOf(packet)}`)
  }

  /** The next packet, which must have this name. */
  async expect(name: Packet['name']): Promise<Packet> {
    const packet = await this.packet()
    if (packet.name === name) return packet
    throw new Error(`${packet.name} came in the place of ${name}`)
  }

  /** The next packet, ERROR included. Throws at the end of the connection. */
  async answer(): Promise<Packet> {
    const message = await this.#next()
    if (message.name !== 'TEXT') return message
    throw new Error(`a line came where a packet was due: ${message.line}`)
  }

  /** The answer to a text command, up to its line with a dot. */
  async lines(command: string): Promise<readonly string[]> {
    this.#socket.write(`${command}\n`)
    const lines: string[] = []
    for (;;) {
      const message = await this.#next()
      if (message.name !== 'TEXT') continue
      if (message.line === '.') return lines
      if (message.line.startsWith('ERR ')) throw new Error(message.line)
      lines.push(message.line)
    }
  }

  /** The one line of answer to a text command. */
  async line(command: string): Promise<string> {
    this.#socket.write(`${command}\n`)
    const message = await this.#next()
    return message.name === 'TEXT' ? message.line : ''
  }

  /** Settles when everything was sent. */
  end(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.destroyed) resolve()
      else this.#socket.once('close', () => resolve()).end()
    })
  }

  #next(): Promise<Message> {
    const first = this.#arrived.shift()
    if (first) return Promise.resolve(first)
    if (this.#failure) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      this.#waiting.push((result) => {
        if (result instanceof Error) reject(result)
        else resolve(result)
      })
    })
  }

  #read(chunk: Buffer): void {
    try {
      this.#decoder.push(chunk)
      for (let message = this.#decoder.next(); message; message = this.#decoder.next()) {
        const waiting = this.#waiting.shift()
        if (waiting) waiting(message)
        else this.#arrived.push(message)
      }
    } catch (error) {
      this.#socket.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #fail(error: Error): void {
    this.#failure ??= error
    for (const waiting of this.#waiting.splice(0)) waiting(this.#failure)
  }
}

/** The code and text of an ERROR. */
export function refusalOf({ args }: Packet): string {
  return args.map(String).join(': ')
}

type Message = NonNullable<ReturnType<Decoder['next']>>
