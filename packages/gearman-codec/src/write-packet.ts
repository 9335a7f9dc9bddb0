import { Buffer } from 'node:buffer'
import { GearmanCodecError } from './errors.ts'
import { packetHeaderBytes, maxLengthField } from './packet.ts'
import { magicReq, magicRes } from './packet.ts'
import type { KnownPacketType, Magic } from './packet-types.ts'

/** Bytes as they are, or text that goes out as UTF-8. */
export type Argument = Uint8Array | string

/** Up to this many characters a loop is faster than a call into native code. */
const shortText = 48

/** `text.charCodeAt(at)` at one cost for all kinds of strings of the engine: a third where they mix. */
const codeAt = Function.prototype.call.bind(
  (String.prototype as { readonly charCodeAt: unknown }).charCodeAt as () => number,
) as (text: string, at: number) => number

/**
 * Checks the arguments against the packet type.
 *
 * @returns the size of the packet in bytes, header included.
 * @throws GearmanCodecError WRONG_ARGUMENT_COUNT, NUL_IN_ARGUMENT or PACKET_TOO_LARGE.
 */
export function measurePacket(type: KnownPacketType, args: readonly Argument[]): number {
  const count = type.args.length
  if (args.length !== count) {
    throw new GearmanCodecError(
      'WRONG_ARGUMENT_COUNT',
      `${type.name} takes ${count} arguments, not ${args.length}`,
    )
  }
  const blobAt = type.blob ? count - 1 : count
  let bytes = count > 1 ? count - 1 : 0
  for (let index = 0; index < count; index++) {
    const arg = args[index] ?? ''
    if (index < blobAt && hasNul(arg)) {
      throw new GearmanCodecError(
        'NUL_IN_ARGUMENT',
        `argument ${type.args[index] ?? ''} of ${type.name} contains a NUL`,
      )
    }
    bytes += typeof arg === 'string' ? Buffer.byteLength(arg) : arg.length
  }
  if (bytes > maxLengthField) {
    throw new GearmanCodecError('PACKET_TOO_LARGE', `${type.name} of ${bytes} bytes`)
  }
  return packetHeaderBytes + bytes
}

/** Writes a measured packet of `bytes` bytes to `out` from `start` on. */
export function writePacket(
  out: Buffer,
  start: number,
  magic: Magic,
  type: KnownPacketType,
  args: readonly Argument[],
  bytes: number,
): void {
  out.writeUInt32BE(magic === 'REQ' ? magicReq : magicRes, start)
  out.writeUInt32BE(type.code, start + 4)
  out.writeUInt32BE(bytes - packetHeaderBytes, start + 8)
  let at = start + packetHeaderBytes
  for (let index = 0; index < args.length; index++) {
    if (index > 0) out[at++] = 0
    const arg = args[index] ?? ''
    if (typeof arg === 'string') {
      at += writeText(out, at, arg)
    } else {
      out.set(arg, at)
      at += arg.length
    }
  }
}

function hasNul(arg: Argument): boolean {
  return typeof arg === 'string' ? arg.includes('\0') : arg.includes(0)
}

function writeText(out: Buffer, at: number, text: string): number {
  const length = text.length
  if (length > shortText) return out.write(text, at)
  for (let index = 0; index < length; index++) {
    const unit = codeAt(text, index)
    if (unit > 0x7f) return out.write(text, at)
    out[at + index] = unit
  }
  return length
}
