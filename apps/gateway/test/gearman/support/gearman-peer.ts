import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Decoder, encode } from '@crossgear/gearman-codec'
import type { Argument, Packet, PacketName, TextLine } from '@crossgear/gearman-codec'

/** One connection that sends and receives packets and text, in order. */
export class GearmanPeer {
  readonly socket: Socket
  readonly #decoder = new Decoder()
  readonly #messages: (Packet | TextLine)[] = []
  readonly #waits: ((message: Packet | TextLine) => void)[] = []
  readonly #gone: Promise<unknown>

  constructor(socket: Socket) {
    this.socket = socket
    this.#gone = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk) => {
      this.#decoder.push(chunk)
      for (let message = this.#decoder.next(); message; message = this.#decoder.next()) {
        const wait = this.#waits.shift()
        if (wait) wait(message)
        else this.#messages.push(message)
      }
    })
  }

  static async connect(port: number): Promise<GearmanPeer> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new GearmanPeer(socket)
  }

  send(name: PacketName, ...args: readonly Argument[]): this {
    this.socket.write(encode('REQ', name, args))
    return this
  }

  /** As a server would say it. */
  sendAsServer(name: PacketName, ...args: readonly Argument[]): this {
    this.socket.write(encode('RES', name, args))
    return this
  }

  sendBytes(bytes: Uint8Array | string): this {
    this.socket.write(bytes)
    return this
  }

  /** The next packet as its name and arguments, which are text; a line of text as `TEXT`. */
  async receive(): Promise<readonly string[]> {
    const message = await this.#next()
    if (message.name === 'TEXT') return ['TEXT', message.line]
    return [message.name, ...message.args.map((arg) => arg.toString())]
  }

  /** The last argument of the next packet, as bytes. */
  async receiveBytes(): Promise<Buffer | undefined> {
    return ((await this.#next()) as Packet).args.at(-1)
  }

  /** The next packets. */
  async receiveMany(count: number): Promise<(readonly string[])[]> {
    const messages: (readonly string[])[] = []
    while (messages.length < count) messages.push(await this.receive())
    return messages
  }

  /** Sends a packet and receives the answer. */
  ask(name: PacketName, ...args: readonly Argument[]): Promise<readonly string[]> {
    return this.send(name, ...args).receive()
  }

  /** Resolves when all that was said before is handled; nothing else may come in between. */
  async sync(): Promise<void> {
    const heard = await this.ask('ECHO_REQ', 'sync')
    if (heard[0] !== 'ECHO_RES') throw new Error(`heard ${heard.join(' ')} and no echo`)
  }

  /** The reply to a text command that ends with a lone dot. */
  async list(command: string): Promise<string[]> {
    this.sendBytes(`${command}\n`)
    const lines: string[] = []
    for (;;) {
      const [, line = ''] = await this.receive()
      if (line === '.') return lines
      lines.push(line)
    }
  }

  /** The reply to a text command that is answered with one line. */
  async command(command: string): Promise<string> {
    const [, line = ''] = await this.sendBytes(`${command}\n`).receive()
    return line
  }

  /** Submits a job and returns its handle. */
  async submit(name: PacketName, ...args: readonly Argument[]): Promise<string> {
    const [reply, handle = ''] = await this.ask(name, ...args)
    if (reply !== 'JOB_CREATED') throw new Error(`${name} was answered with ${reply ?? 'nothing'}`)
    return handle
  }

  /** Resolves when the other side has ended the connection. */
  async ended(): Promise<void> {
    await this.#gone
  }

  async leave(): Promise<void> {
    this.socket.destroy()
    await this.#gone
  }

  #next(): Promise<Packet | TextLine> {
    const message = this.#messages.shift()
    if (message) return Promise.resolve(message)
    return new Promise((resolve) => this.#waits.push(resolve))
  }
}
