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

/** `\0REQ` as a big-endian word. */
export const magicReq = 0x00_52_45_51

/** `\0RES` as a big-endian word. */
export const magicRes = 0x00_52_45_53

/** Bytes of a binary packet's header: magic, type and length, four bytes each. */
export const packetHeaderBytes = 12

/** Longest unique id, and longest reducer, in bytes without a terminator. */
export const maxUniqueBytes = 64

/** Longest function name in bytes that client libraries send. */
export const maxFunctionBytes = 511

/** Bytes kept of a SET_CLIENT_ID; the rest is cut off. */
export const maxClientIdBytes = 127

/** Largest data part that a length field can state, in bytes. */
export const maxLengthField = 0xffff_ffff

/** Default of `DecoderOptions.maxPacketBytes`: 64 MiB. */
export const defaultMaxPacketBytes = 64 * 1024 * 1024

/** Default of `DecoderOptions.maxLineBytes`: 8 KiB, the line end counted. */
export const defaultMaxLineBytes = 8192
