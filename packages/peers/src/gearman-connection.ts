import type { Socket } from 'node:net'
import { type Argument, Decoder, encode } from '@crossgear/gearman-codec'
import type { Packet, PacketName, TextLine } from '@crossgear/gearman-codec'
import { connected, Link, type ServerPort, usualWithinMs } from './link.ts'

/** A connection to a Gearman server: replies come in the order in which they are awaited. */
export class GearmanConnection extends Link<Packet | TextLine> {
  constructor(socket: Socket, withinMs?: number) {
    super(socket, new Decoder(), withinMs)
  }

  static async open(server: ServerPort, withinMs = usualWithinMs): Promise<GearmanConnection> {
    return new GearmanConnection(await connected(server, withinMs), withinMs)
  }

  send(name: PacketName, ...args: readonly Argument[]): this {
    this.write(encode('REQ', name, args))
    return this
  }

  /** The next packet. Throws on ERROR, or at the end of the connection. */
  async packet(): Promise<Packet> {
    const packet = await this.answer()
    if (packet.name !== 'ERROR') return packet
    throw new Error(`the server says ${refusalOf(packet)}`)
  }

  /** The next packet, which must have this name. */
  async expect(name: PacketName): Promise<Packet> {
    const packet = await this.packet()
    if (packet.name === name) return packet
    throw new Error(`${packet.name} came in the place of ${name}`)
  }

  /** The next packet, ERROR included. Throws at the end of the connection. */
  async answer(): Promise<Packet> {
    const message = await this.next()
    if (message.name !== 'TEXT') return message
    throw new Error(`a line came where a packet was due: ${message.line}`)
  }

  /** The answer to a text command, up to its line with a dot. */
  async lines(command: string): Promise<string[]> {
    this.write(`${command}\n`)
    const lines: string[] = []
    for (;;) {
      const message = await this.next()
      if (message.name !== 'TEXT') continue
      if (message.line === '.') return lines
      if (message.line.startsWith('ERR ')) throw new Error(message.line)
      lines.push(message.line)
    }
  }

  /** The one line of answer to a text command. */
  async line(command: string): Promise<string> {
    this.write(`${command}\n`)
    const message = await this.next()
    return message.name === 'TEXT' ? message.line : ''
  }
}

/** The code and text of an ERROR. */
export function refusalOf({ args }: Packet): string {
  return args.map(String).join(': ')
}
