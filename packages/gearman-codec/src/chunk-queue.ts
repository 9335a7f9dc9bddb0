import type { Buffer } from 'node:buffer'

/** Consumed entries allowed at the front before they are removed. */
const slack = 1024

/** Chunks that were pushed faster than they were read: first in, first out, in constant time. */
export class ChunkQueue {
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
