import { Buffer } from 'node:buffer'
import {
  type Magic,
  type PacketName,
  packetType,
  type RequestName,
  type ResponseName,
} from './packet-types.ts'
import { type Argument, measurePacket, writePacket } from './write-packet.ts'

/**
 * Encodes one packet, in a single allocation. Text becomes UTF-8.
 * The direction is not checked, so that tests and proxies can send anything.
 *
 * @throws GearmanCodecError WRONG_ARGUMENT_COUNT, NUL_IN_ARGUMENT (only a last argument that is a
 * blob may contain NULs) or PACKET_TOO_LARGE (data of 4 GiB or more).
 */
export function encode(magic: Magic, name: PacketName, args: readonly Argument[] = []): Buffer {
  const type = packetType(name)
  const bytes = measurePacket(type, args)
  const out = Buffer.allocUnsafe(bytes)
  writePacket(out, 0, magic, type, args, bytes)
  return out
}

/** One packet from a client or worker to the server. Errors as for {@link encode}. */
export function encodeRequest(name: RequestName, ...args: readonly Argument[]): Buffer {
  return encode('REQ', name, args)
}

/** One packet from the server to a client or worker. Errors as for {@link encode}. */
export function encodeResponse(name: ResponseName, ...args: readonly Argument[]): Buffer {
  return encode('RES', name, args)
}

/** NOOP from the server: wake up. One shared buffer; do not write to it. */
export const noop: Buffer = encodeResponse('NOOP')

/** NO_JOB from the server. One shared buffer; do not write to it. */
export const noJob: Buffer = encodeResponse('NO_JOB')
