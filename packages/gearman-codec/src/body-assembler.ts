import { Buffer } from 'node:buffer'

/** Bytes allocated at first: the most that a peer can make the decoder hold for a header alone. */
const firstBytes = 64 * 1024
/**
 * Growth where more comes. The system gives memory to a new buffer as bytes come into it; what a smaller one held is garbage,
 * so there are few steps.
 */
const growth = 32

const nothing = Buffer.alloc(0)

/**
 * Collects the data of a packet that came in pieces. Memory follows the received bytes, not the header's promise: it is
 * reserved for at most 32 times as many, beyond 64 KB.
 */
export class BodyAssembler {
  readonly #totalBytes: number
  #bytes: Buffer = nothing
  #used = 0

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes
  }

  /** Bytes still to come. */
  get missing(): number {
    return this.#totalBytes - this.#used
  }

  /** Bytes of memory held: those that came. */
  get keptBytes(): number {
    return this.#used
  }

  /** Takes the bytes it needs from `source`, starting at `start`; returns their number. */
  write(source: Buffer, start: number): number {
    const end = Math.min(source.length, start + this.missing)
    this.#makeRoom(this.#used + end - start)
    source.copy(this.#bytes, this.#used, start, end)
    this.#used += end - start
    return end - start
  }

  /** The complete data; call it once, when nothing is missing. */
  finish(): Buffer {
    return this.#bytes
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#bytes.length) return
    const before = this.#bytes
    const room = Math.max(bytes, growth * before.length, firstBytes)
    this.#bytes = Buffer.allocUnsafe(Math.min(this.#totalBytes, room))
    before.copy(this.#bytes, 0, 0, this.#used)
  }
}
