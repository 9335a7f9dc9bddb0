import fc from 'fast-check'
import {
  Decoder,
  type DecoderOptions,
  GearmanCodecError,
  type Magic,
  type Packet,
  type PacketName,
  type PacketType,
  packetTypes,
  type TextLine,
} from '../src/index.ts'

/** Bytes from hex; spaces and line breaks are for the reader. */
export function hex(text: string): Buffer {
  return Buffer.from(text.replace(/\s/g, ''), 'hex')
}

/** A packet built by hand, right or wrong. */
export function raw(magic: string, code: number, body: Buffer | string = ''): Buffer {
  const data = Buffer.from(body)
  const header = Buffer.alloc(12)
  header.write(magic, 0, 'latin1')
  header.writeUInt32BE(code, 4)
  header.writeUInt32BE(data.length, 8)
  return Buffer.concat([header, data])
}

/** Everything that is complete in the decoder. */
export function drain(decoder: Decoder): (Packet | TextLine)[] {
  const messages: (Packet | TextLine)[] = []
  for (let message = decoder.next(); message !== undefined; message = decoder.next()) {
    messages.push(message)
  }
  return messages
}

/** Decodes a stream that comes in the given chunks. */
export function decode(
  chunks: readonly Buffer[],
  options: DecoderOptions = {},
): (Packet | TextLine)[] {
  const decoder = new Decoder(options)
  return chunks.flatMap((chunk) => {
    decoder.push(chunk)
    return drain(decoder)
  })
}

/** Cuts bytes at the given places. */
export function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const edges = [...places].sort((a, b) => a - b)
  return [...edges, bytes.length].map((end, index) => bytes.subarray(edges[index - 1] ?? 0, end))
}

/** The error that `act` throws. */
export function failure(act: () => unknown): GearmanCodecError {
  try {
    act()
  } catch (error) {
    if (error instanceof GearmanCodecError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

/** A packet in plain form, equal by value. */
export function plain(message: Packet | TextLine): unknown {
  if (message.name === 'TEXT') return message.line
  return [message.magic, message.name, ...message.args.map((arg) => arg.toString('latin1'))]
}

/** Input of `encode`. */
export interface PacketInput {
  readonly magic: Magic
  readonly name: PacketName
  readonly args: readonly Buffer[]
}

const bytes = (options: { min: number }) =>
  fc
    .uint8Array({ min: options.min, maxLength: 40 })
    .map((array) => Buffer.from(array.buffer, array.byteOffset, array.length))

/** Any packet of one type, with arbitrary bytes in its arguments. */
export function packetOf(type: PacketType & { name: PacketName }): fc.Arbitrary<PacketInput> {
  const args = type.args.map((_, index) =>
    bytes({ min: type.blob && index === type.args.length - 1 ? 0 : 1 }),
  )
  return fc
    .tuple(fc.constantFrom<Magic>('REQ', 'RES'), fc.tuple(...args))
    .map(([magic, values]) => ({ magic, name: type.name, args: values }))
}

/** Any packet of any type. */
export const anyPacket: fc.Arbitrary<PacketInput> = fc.oneof(...packetTypes.map(packetOf))
