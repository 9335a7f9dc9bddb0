import type { Tap } from '../clients/passed-connection.ts'

const lineFeed = 0x0a

/** Called with a line without its end. `isCut`: it is longer than what is kept of a line. */
type OnLine = (line: Buffer, isCut: boolean) => void

/** Reads the lines of a stream that goes by, in bounded memory. */
export class LineTap implements Tap {
  readonly #keptBytes: number
  readonly #onLine: OnLine
  #pieces: Buffer[] = []
  #kept = 0
  #isCut = false

  constructor(keptBytes: number, onLine: OnLine) {
    this.#keptBytes = keptBytes
    this.#onLine = onLine
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      const end = chunk.indexOf(lineFeed, at)
      this.#keep(chunk.subarray(at, end < 0 ? chunk.length : end))
      if (end < 0) return
      this.#finish()
      at = end + 1
    }
  }

  #keep(piece: Buffer): void {
    const kept = piece.subarray(0, this.#keptBytes - this.#kept)
    this.#isCut ||= kept.length < piece.length
    if (kept.length === 0) return
    // A copy: the chunk it came in is not kept for its sake.
    this.#pieces.push(Buffer.from(kept))
    this.#kept += kept.length
  }

  #finish(): void {
    const line = Buffer.concat(this.#pieces)
    const isCut = this.#isCut
    this.#pieces = []
    this.#kept = 0
    this.#isCut = false
    const end = line.at(-1) === 0x0d ? line.length - 1 : line.length
    this.#onLine(line.subarray(0, end), isCut)
  }
}
