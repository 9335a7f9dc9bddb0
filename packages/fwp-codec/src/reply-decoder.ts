import { FwpError } from './errors.ts'

const lf = 0x0a
const cr = 0x0d
const nothing = Buffer.alloc(0)
const lineEndBytes = 2

/** Default of a decoder's longest line, bytes: what is long comes as a bulk string. */
const defaultMaxLineBytes = 1024 * 1024
/** Default of a decoder's longest bulk string, bytes. */
const defaultMaxBodyBytes = 512 * 1024 * 1024

/** A reply of a server: `+text`, `-ERR text`, or a bulk string. */
export interface Reply {
  /** The line with its sign, without its end; of a bulk string the one that tells its length. */
  readonly line: string
  /** The bytes of a bulk string; null for the one that is null. Absent for other replies. */
  readonly body?: Buffer | null
}

/** Bounds of a decoder. Defaults at the end of each line. */
export interface ReplyDecoderOptions {
  /** The longest line, bytes without its end. 1 MiB. */
  readonly maxLineBytes?: number
  /** The longest bulk string, bytes. 512 MiB. */
  readonly maxBodyBytes?: number
  /** False: bodies are passed over as they come, and replies have empty ones. true. */
  readonly keepsBodies?: boolean
}

/**
 * Cuts a stream of bytes into replies: push a chunk, then call `next` until it returns nothing. A body within one chunk is a
 * view of it; bytes that wait for others are copied into a buffer that doubles.
 */
export class ReplyDecoder {
  readonly #maxLineBytes: number
  readonly #maxBodyBytes: number
  readonly #keepsBodies: boolean
  /** Bytes from `#start` to `#end` are to be read. */
  #bytes: Buffer = nothing
  #start = 0
  #end = 0
  /** True for a buffer of its own, which may be filled up. */
  #isOwn = false
  /** The part without a line feed that was looked through. */
  #scanned = 0
  /** Of a bulk string whose body has not come yet. */
  #head: { readonly line: string; readonly bodyBytes: number } | undefined
  /** Bytes of a body that are passed over. */
  #skipped = 0
  #failure: FwpError | undefined

  constructor(options: ReplyDecoderOptions = {}) {
    this.#maxLineBytes = options.maxLineBytes ?? defaultMaxLineBytes
    this.#maxBodyBytes = options.maxBodyBytes ?? defaultMaxBodyBytes
    this.#keepsBodies = options.keepsBodies ?? true
  }

  /** Adds bytes, which must not change afterwards. */
  push(chunk: Buffer): void {
    if (this.#failure) throw this.#failure
    const kept = this.#end - this.#start
    if (kept === 0) {
      this.#bytes = chunk
      this.#start = 0
      this.#end = chunk.length
      this.#isOwn = false
      return
    }
    if (!this.#isOwn || this.#end + chunk.length > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(2 * (kept + chunk.length))
      this.#bytes.copy(grown, 0, this.#start, this.#end)
      this.#bytes = grown
      this.#start = 0
      this.#end = kept
      this.#isOwn = true
    }
    chunk.copy(this.#bytes, this.#end)
    this.#end += chunk.length
  }

  /**
   * The next reply, or nothing while it is incomplete. Throws `LINE_TOO_LONG` or `INVALID_REPLY`, and from then on.
   */
  next(): Reply | undefined {
    if (this.#failure) throw this.#failure
    this.#head ??= this.#readLine()
    if (!this.#head) return undefined
    const { line, bodyBytes } = this.#head
    if (bodyBytes < 0) {
      this.#head = undefined
      return line.startsWith('$') ? { line, body: null } : { line }
    }
    const body = this.#readBody(bodyBytes)
    if (!body) return undefined
    this.#head = undefined
    return { line, body }
  }

  #readLine(): { readonly line: string; readonly bodyBytes: number } | undefined {
    const found = this.#bytes.subarray(0, this.#end).indexOf(lf, this.#start + this.#scanned)
    const lineBytes = (found < 0 ? this.#end : found) - this.#start
    if (found < 0) {
      this.#scanned = lineBytes
      // One byte more may be the CR of its end.
      if (lineBytes > this.#maxLineBytes + 1) throw this.#tooLong()
      return undefined
    }
    this.#scanned = 0
    const end = found > this.#start && this.#bytes[found - 1] === cr ? found - 1 : found
    if (end - this.#start > this.#maxLineBytes) throw this.#tooLong()
    const line = this.#bytes.toString('utf8', this.#start, end)
    this.#start = found + 1
    return { line, bodyBytes: this.#bodyBytesOf(line) }
  }

  /** -1: no body follows the line. */
  #bodyBytesOf(line: string): number {
    if (line.startsWith('+') || line.startsWith('-') || line === '$-1') return -1
    const bytes = /^\$(\d{1,15})$/.exec(line)?.[1]
    if (bytes === undefined) throw this.#fail('INVALID_REPLY', 'the reply has no known sign')
    if (Number(bytes) <= this.#maxBodyBytes) return Number(bytes)
    throw this.#fail('INVALID_REPLY', `a reply is longer than ${this.#maxBodyBytes} bytes`)
  }

  #readBody(bodyBytes: number): Buffer | undefined {
    if (!this.#keepsBodies) {
      const step = Math.min(bodyBytes - this.#skipped, this.#end - this.#start)
      this.#start += step
      this.#skipped += step
    }
    const left = bodyBytes - this.#skipped
    const end = this.#start + left
    if (this.#end < end + lineEndBytes) return undefined
    if (this.#bytes[end] !== cr || this.#bytes[end + 1] !== lf) {
      throw this.#fail('INVALID_REPLY', 'a reply is not as long as it says')
    }
    const body = this.#bytes.subarray(this.#start, end)
    this.#start = end + lineEndBytes
    this.#skipped = 0
    return body
  }

  #tooLong(): FwpError {
    return this.#fail('LINE_TOO_LONG', `line too long: at most ${this.#maxLineBytes} bytes`)
  }

  #fail(code: 'LINE_TOO_LONG' | 'INVALID_REPLY', message: string): FwpError {
    this.#failure = new FwpError(code, message)
    this.#bytes = nothing
    this.#start = 0
    this.#end = 0
    return this.#failure
  }
}
