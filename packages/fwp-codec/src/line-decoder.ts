import { FwpError } from './errors.ts'

const lf = 0x0a
const cr = 0x0d
const nothing = Buffer.alloc(0)

/** Up to this size the buffer of a half-arrived line is twice as long as the line. */
const shortLineBytes = 64 * 1024
/**
 * Growth of a longer line's buffer. The system gives memory to it as bytes come into it; what a smaller one held is garbage, so
 * there are few steps.
 */
const growth = 32

/** Default of a decoder's longest line: 64 MiB, without its end. */
export const defaultMaxLineBytes = 64 * 1024 * 1024

/**
 * Cuts a stream of bytes into lines that end with CRLF or LF: push a chunk, then call `next` until it returns nothing. A
 * line within one chunk is a view of it; one that spans chunks is copied into a buffer that grows in a few large steps.
 */
export class LineDecoder {
  /** The longest line, in bytes, without its end. May be raised once a peer is trusted. */
  maxLineBytes: number

  #chunk: Buffer = nothing
  #offset = 0
  #queue: Buffer[] = []
  #head = 0
  #partial: Buffer = nothing
  #partialBytes = 0
  #failure: FwpError | undefined

  /** Default for `maxLineBytes`: 64 MiB. */
  constructor(options: { readonly maxLineBytes?: number } = {}) {
    this.maxLineBytes = options.maxLineBytes ?? defaultMaxLineBytes
  }

  /** Bytes of memory held for the half-arrived line. */
  get keptBytes(): number {
    return this.#partialBytes
  }

  /** Adds bytes, which must not change afterwards. Throws `LINE_TOO_LONG` once failed. */
  push(chunk: Buffer): void {
    if (this.#failure !== undefined) throw this.#failure
    if (chunk.length > 0) this.#queue.push(chunk)
  }

  /**
   * The next complete line without its end, or nothing while it is incomplete. Throws
   * `LINE_TOO_LONG` as soon as a line cannot fit, and from then on.
   */
  next(): Buffer | undefined {
    if (this.#failure !== undefined) throw this.#failure
    while (this.#advance()) {
      const chunk = this.#chunk
      const from = this.#offset
      const end = chunk.indexOf(lf, from)
      if (end === -1) {
        this.#keep(chunk, from, chunk.length)
        this.#offset = chunk.length
        continue
      }
      this.#offset = end + 1
      return this.#partialBytes === 0
        ? this.#line(chunk, from, end)
        : this.#joinedLine(chunk, from, end)
    }
    return undefined
  }

  /** True while there are bytes to read; drops chunks that have been read. */
  #advance(): boolean {
    if (this.#offset < this.#chunk.length) return true
    const next = this.#queue[this.#head]
    this.#offset = 0
    if (next === undefined) {
      this.#chunk = nothing
      return false
    }
    this.#chunk = next
    this.#head++
    if (this.#head === this.#queue.length) {
      this.#queue = []
      this.#head = 0
    }
    return true
  }

  #line(bytes: Buffer, from: number, end: number): Buffer {
    const lineEnd = end > from && bytes[end - 1] === cr ? end - 1 : end
    if (lineEnd - from > this.maxLineBytes) throw this.#fail()
    return bytes.subarray(from, lineEnd)
  }

  #joinedLine(chunk: Buffer, from: number, end: number): Buffer {
    this.#keep(chunk, from, end)
    const line = this.#line(this.#partial, 0, this.#partialBytes)
    this.#partial = nothing
    this.#partialBytes = 0
    return line
  }

  #keep(chunk: Buffer, from: number, end: number): void {
    const needed = this.#partialBytes + end - from
    // One byte beyond the longest line may be the CR of its end.
    const longest = this.maxLineBytes + 1
    if (needed > longest) throw this.#fail()
    if (needed > this.#partial.length) {
      const grown = Buffer.allocUnsafe(
        Math.min(Math.max(256, needed * (needed < shortLineBytes ? 2 : growth)), longest),
      )
      this.#partial.copy(grown, 0, 0, this.#partialBytes)
      this.#partial = grown
    }
    chunk.copy(this.#partial, this.#partialBytes, from, end)
    this.#partialBytes = needed
    if (needed === longest && this.#partial[needed - 1] !== cr) throw this.#fail()
  }

  #fail(): FwpError {
    const limit = this.maxLineBytes
    this.#failure = new FwpError('LINE_TOO_LONG', `line too long: at most ${limit} bytes`)
    this.#chunk = nothing
    this.#queue = []
    this.#partial = nothing
    this.#partialBytes = 0
    return this.#failure
  }
}
