import type { Buffer } from 'node:buffer'
import type { Magic, PacketName } from './packet-types.ts'

/** One binary packet. */
export interface Packet {
  readonly magic: Magic
  readonly name: PacketName
  /**
   * The arguments, as many as `packetTypes` names. They are views of the received bytes: copy one
   * to keep it, since a view holds its whole chunk in memory.
   */
  readonly args: readonly Buffer[]
}

/** One line of the administrative text protocol. */
export interface TextLine {
  readonly name: 'TEXT'
  /** The line as UTF-8 without its line end. */
  readonly line: string
}
