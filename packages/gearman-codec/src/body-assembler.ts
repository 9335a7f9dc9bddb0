import { Buffer } from 'node:buffer'

/** Bytes allocated at a time: the most that a peer can make the decoder hold beyond its bytes. */
const segmentBytes = 64 * 1024

const nothing = Buffer.alloc(0)

/**
 * Collects the data of a packet that came in pieces. Each byte is copied at most twice, however
 * small the pieces, and memory follows the received bytes, not the header's promise.
 */
export class BodyAssembler {
  readonly #full: Buffer[] = []
  readonly #totalBytes: number
  #segment: Buffer = nothing
  #used = 0
  #missing: number

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes
    this.#missing = totalBytes
  }

  /** Bytes still to come. */
  get missing(): number {
    return this.#missing
  }

  /** Bytes of memory held. */
  get keptBytes(): number {
    return this.#full.length * segmentBytes + this.#segment.length
  }

  /** Takes the bytes it needs from `source`, starting at `start`; returns their number. */
  write(source: Buffer, start: number): number {
    const end = Math.min(source.length, start + this.#missing)
    for (let at = start; at < end;) {
      if (this.#used === this.#segment.length) this.#reserve()
      const copied = source.copy(this.#segment, this.#used, at, end)
      this.#used += copied
      this.#missing -= copied
      at += copied
    }
    return end - start
  }

  /** The complete data; call it once, when nothing is missing. */
  finish(): Buffer {
    if (this.#full.length === 0) return this.#segment
    this.#full.push(this.#segment)
    return Buffer.concat(this.#full, this.#totalBytes)
  }

  #reserve(): void {
    if (this.#used > 0) this.#full.push(this.#segment)
    this.#segment = Buffer.allocUnsafe(Math.min(this.#missing, segmentBytes))
    this.#used = 0
  }
}
