import type { Tap } from '../clients/passed-connection.ts'
import { LineTap } from './line-tap.ts'

/** Of a line that says how long the bytes behind it are. */
const headBytes = 32
const lineEndBytes = 2

/** Counts the replies of a Faktory server that go by. */
export class ReplyTap implements Tap {
  readonly #heads: LineTap
  /** Bytes that are still to come of what a head announced. */
  #left = 0

  constructor(onReply: () => void) {
    this.#heads = new LineTap(headBytes, (head) => {
      const bytes = /^\$(\d+)$/.exec(head.toString('latin1'))?.[1]
      if (bytes !== undefined) this.#left = Number(bytes) + lineEndBytes
      onReply()
    })
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#left > 0) {
        const end = Math.min(chunk.length, at + this.#left)
        this.#left -= end - at
        at = end
      } else {
        const end = chunk.indexOf('\n', at)
        const next = end < 0 ? chunk.length : end + 1
        this.#heads.push(chunk.subarray(at, next))
        at = next
      }
    }
  }
}
