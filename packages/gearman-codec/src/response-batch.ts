import { Buffer } from 'node:buffer'
import { packetType, type ResponseName } from './packet-types.ts'
import { type Argument, measurePacket, writePacket } from './write-packet.ts'

/** First block of a batch; small, since most batches are. */
const firstBlockBytes = 1024

/** Blocks double up to this size. */
const lastBlockBytes = 64 * 1024

/** Packets from this size on get a buffer of their own. */
const largePacketBytes = 16 * 1024

/**
 * Gathers the replies that are ready together into few buffers. One batch per session; between two
 * `take()` calls it holds no memory.
 */
export class ResponseBatch {
  #done: Buffer[] = []
  #block: Buffer | undefined
  #used = 0
  #blockBytes = firstBlockBytes
  #bytes = 0

  /** Bytes that wait to be taken. */
  get byteLength(): number {
    return this.#bytes
  }

  /** Adds one packet from the server. Errors as of `encode`; the batch is then unchanged. */
  add(name: ResponseName, ...args: readonly Argument[]): void {
    const type = packetType(name)
    const bytes = measurePacket(type, args)
    const block = this.#room(bytes)
    writePacket(block, this.#used, 'RES', type, args, bytes)
    this.#used += bytes
    this.#bytes += bytes
  }

  /** Adds bytes that are encoded already, such as `NOOP` or the reply to a text line. */
  addBytes(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#room(bytes.length).set(bytes, this.#used)
    this.#used += bytes.length
    this.#bytes += bytes.length
  }

  /** All that was added, in order; the batch is empty afterwards. */
  take(): Buffer[] {
    this.#seal()
    const taken = this.#done
    this.#done = []
    this.#blockBytes = firstBlockBytes
    this.#bytes = 0
    return taken
  }

  #room(bytes: number): Buffer {
    if (this.#block !== undefined && this.#block.length - this.#used >= bytes) return this.#block
    this.#seal()
    const large = bytes >= largePacketBytes
    this.#block = Buffer.allocUnsafe(large ? bytes : Math.max(bytes, this.#blockBytes))
    if (!large) this.#blockBytes = Math.min(this.#blockBytes * 4, lastBlockBytes)
    return this.#block
  }

  #seal(): void {
    if (this.#block !== undefined) this.#done.push(this.#block.subarray(0, this.#used))
    this.#block = undefined
    this.#used = 0
  }
}
