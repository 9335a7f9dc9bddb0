import type { Socket } from 'node:net'
import type { PassedClient } from '../clients/copy-side.ts'
import { PassedConnection, type Tap } from '../clients/passed-connection.ts'
import type { ServerAddress } from '../server-address.ts'
import { LineTap } from './line-tap.ts'

export interface FaktoryClientOptions {
  /** The server that the client is passed on to. */
  readonly address: ServerAddress
  /** Bytes that are kept of a line. */
  readonly keptBytes: number
  readonly onLine: (line: Buffer, isCut: boolean) => void
  readonly onClose: () => void
}

/** A Faktory client whose commands are read as they go by. */
export class FaktoryClient implements PassedClient {
  readonly #connection: PassedConnection
  #commands = 0
  /** The server's greeting answers no command. */
  #replies = -1

  constructor(client: Socket, { address, keptBytes, onLine, onClose }: FaktoryClientOptions) {
    const fromClient = new LineTap(keptBytes, (line, isCut) => {
      this.#commands += 1
      onLine(line, isCut)
    })
    const fromServer = new ReplyTap(() => (this.#replies += 1))
    this.#connection = new PassedConnection(client, { address, fromClient, fromServer, onClose })
  }

  get isIdle(): boolean {
    return this.#replies >= this.#commands
  }

  end(): void {
    this.#connection.end()
  }
}

/** Of a line that says how long the bytes behind it are. */
const headBytes = 32
const lineEndBytes = 2

/** Counts the replies of a Faktory server that go by. */
class ReplyTap implements Tap {
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
