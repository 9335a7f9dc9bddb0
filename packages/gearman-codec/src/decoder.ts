import { Buffer } from 'node:buffer'
import { BodyAssembler } from './body-assembler.ts'
import { type CodecErrorCode, GearmanCodecError } from './errors.ts'
import { defaultMaxLineBytes, defaultMaxPacketBytes, packetHeaderBytes } from './packet.ts'
import { magicReq, magicRes } from './packet.ts'
import { type KnownPacketType, type Magic, maxPacketCode, typesByCode } from './packet-types.ts'
import type { Packet, TextLine } from './packet.ts'
import { splitArguments } from './split-arguments.ts'

/** Bounds of what a decoder accepts. */
export interface DecoderOptions {
  /** Largest data part of a packet, by its header, in bytes. Default 64 MiB. */
  readonly maxPacketBytes?: number
  /** Longest text line in bytes, line end included. Default 8192. */
  readonly maxLineBytes?: number
}

const lf = 0x0a
const cr = 0x0d
const nothing = Buffer.alloc(0)

/** A packet with a known header whose data is still coming. */
interface OpenPacket {
  readonly magic: Magic
  readonly type: KnownPacketType
  readonly body: BodyAssembler
}

/**
 * Turns the bytes of a connection into packets and text lines, however they are cut: a NUL at a message boundary starts a
 * packet. Only a cut packet is copied. Both magics are decoded: the caller decides what to answer to the wrong one.
 */
export class Decoder {
  readonly #maxPacketBytes: number
  readonly #maxLineBytes: number
  readonly #waiting = new ChunkQueue()
  #chunk: Buffer = nothing
  #offset = 0
  #header: Buffer = nothing
  #headerBytes = 0
  #packet: OpenPacket | undefined
  #line: Buffer = nothing
  #lineBytes = 0
  #failure: GearmanCodecError | undefined

  /** @throws GearmanCodecError INVALID_OPTION for a limit that is not a positive whole number. */
  constructor(options: DecoderOptions = {}) {
    this.#maxPacketBytes = positive(options.maxPacketBytes ?? defaultMaxPacketBytes)
    this.#maxLineBytes = positive(options.maxLineBytes ?? defaultMaxLineBytes)
  }

  /** Bytes of memory held for the half-arrived message. */
  get keptBytes(): number {
    return (this.#packet?.body.keptBytes ?? 0) + this.#line.length
  }

  /**
   * Adds received bytes. The chunk is not copied and must not change afterwards. Call `next()`
   * until it has nothing more before the next push, so that at most one chunk waits.
   */
  push(chunk: Buffer): void {
    if (chunk.length === 0 || this.#failure !== undefined) return
    if (this.#offset === this.#chunk.length) {
      this.#chunk = chunk
      this.#offset = 0
    } else {
      this.#waiting.add(chunk)
    }
  }

  /**
   * The next message, or `undefined` while it is incomplete.
   *
   * @throws GearmanCodecError BAD_MAGIC, UNKNOWN_COMMAND, MALFORMED_ARGUMENTS, PACKET_TOO_LARGE or
   * LINE_TOO_LONG. The next message cannot be found then: every later call throws the same error.
   */
  next(): Packet | TextLine | undefined {
    if (this.#failure !== undefined) throw this.#failure
    while (this.#offset < this.#chunk.length || this.#advance()) {
      let message: Packet | TextLine | undefined
      if (this.#packet !== undefined) message = this.#continuePacket(this.#packet)
      else if (this.#headerBytes > 0) message = this.#continueHeader()
      else if (this.#lineBytes > 0 || this.#chunk[this.#offset] !== 0) message = this.#readLine()
      else message = this.#startPacket()
      if (message !== undefined) return message
    }
    return undefined
  }

  #advance(): boolean {
    this.#chunk = this.#waiting.take() ?? nothing
    this.#offset = 0
    return this.#chunk.length > 0
  }

  #startPacket(): Packet | undefined {
    const at = this.#offset
    if (this.#chunk.length - at < packetHeaderBytes) {
      if (this.#header.length === 0) this.#header = Buffer.allocUnsafe(packetHeaderBytes)
      return this.#continueHeader()
    }
    this.#offset = at + packetHeaderBytes
    return this.#openPacket(this.#chunk, at)
  }

  #continueHeader(): Packet | undefined {
    const copied = this.#chunk.copy(this.#header, this.#headerBytes, this.#offset)
    this.#headerBytes += copied
    this.#offset += copied
    if (this.#headerBytes < packetHeaderBytes) return undefined
    this.#headerBytes = 0
    return this.#openPacket(this.#header, 0)
  }

  /** Checks a header before any of its data is kept; the data starts at the current offset. */
  #openPacket(header: Buffer, at: number): Packet | undefined {
    const word = header.readUInt32BE(at)
    if (word !== magicReq && word !== magicRes) {
      return this.#fail('BAD_MAGIC', `magic is 0x${word.toString(16).padStart(8, '0')}`)
    }
    const code = header.readUInt32BE(at + 4)
    const type = code <= maxPacketCode ? typesByCode[code] : undefined
    if (type === undefined) return this.#fail('UNKNOWN_COMMAND', `packet type is ${code}`)
    const bytes = header.readUInt32BE(at + 8)
    if (bytes > this.#maxPacketBytes) {
      return this.#fail('PACKET_TOO_LARGE', `${type.name} of ${bytes} bytes`)
    }
    const magic = word === magicReq ? 'REQ' : 'RES'
    const start = this.#offset
    if (this.#chunk.length - start >= bytes) {
      this.#offset = start + bytes
      return this.#makePacket(magic, type, this.#chunk, start, start + bytes)
    }
    this.#packet = { magic, type, body: new BodyAssembler(bytes) }
    return undefined
  }

  #continuePacket({ magic, type, body }: OpenPacket): Packet | undefined {
    this.#offset += body.write(this.#chunk, this.#offset)
    if (body.missing > 0) return undefined
    this.#packet = undefined
    const bytes = body.finish()
    return this.#makePacket(magic, type, bytes, 0, bytes.length)
  }

  #makePacket(
    magic: Magic,
    type: KnownPacketType,
    body: Buffer,
    start: number,
    end: number,
  ): Packet {
    const args = splitArguments(type, body, start, end)
    if (args === undefined) {
      return this.#fail(
        'MALFORMED_ARGUMENTS',
        `${type.name} of ${end - start} bytes has too few arguments`,
      )
    }
    return { magic, name: type.name, args }
  }

  #readLine(): TextLine | undefined {
    const chunk = this.#chunk
    const start = this.#offset
    const lineFeed = chunk.indexOf(lf, start)
    const end = lineFeed < 0 ? chunk.length : lineFeed + 1
    const bytes = this.#lineBytes + end - start
    // An unfinished line has at least its line feed to come.
    if (bytes > this.#maxLineBytes - (lineFeed < 0 ? 1 : 0)) {
      this.#fail('LINE_TOO_LONG', `text line of more than ${this.#maxLineBytes} bytes`)
    }
    this.#offset = end
    if (lineFeed >= 0 && this.#lineBytes === 0) return textLine(chunk, start, end)
    if (this.#line.length === 0) this.#line = Buffer.allocUnsafe(this.#maxLineBytes)
    chunk.copy(this.#line, this.#lineBytes, start, end)
    this.#lineBytes = bytes
    if (lineFeed < 0) return undefined
    const message = textLine(this.#line, 0, bytes)
    this.#line = nothing
    this.#lineBytes = 0
    return message
  }

  #fail(code: CodecErrorCode, message: string): never {
    this.#failure = new GearmanCodecError(code, message)
    this.#waiting.clear()
    this.#chunk = nothing
    this.#offset = 0
    this.#packet = undefined
    this.#line = nothing
    throw this.#failure
  }
}

/** The line `bytes[start, end)`, whose last byte is a line feed. */
function textLine(bytes: Buffer, start: number, end: number): TextLine {
  let stop = end - 1
  if (stop > start && bytes[stop - 1] === cr) stop--
  return { name: 'TEXT', line: bytes.toString('utf8', start, stop) }
}

function positive(limit: number): number {
  if (Number.isSafeInteger(limit) && limit > 0) return limit
  throw new GearmanCodecError('INVALID_OPTION', `a limit must be a positive whole number: ${limit}`)
}

/** Consumed entries allowed at the front before they are removed. */
const slack = 1024

/** Chunks that were pushed faster than they were read: first in, first out, in constant time. */
class ChunkQueue {
  #chunks: Buffer[] = []
  #front = 0

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
  }

  take(): Buffer | undefined {
    const chunk = this.#chunks[this.#front]
    if (chunk === undefined) return undefined
    this.#front++
    if (this.#front === this.#chunks.length) this.clear()
    else if (this.#front >= slack && this.#front * 2 >= this.#chunks.length) {
      this.#chunks = this.#chunks.slice(this.#front)
      this.#front = 0
    }
    return chunk
  }

  clear(): void {
    if (this.#chunks.length > 0) this.#chunks = []
    this.#front = 0
  }
}
