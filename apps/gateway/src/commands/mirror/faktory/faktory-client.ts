import type { Socket } from 'node:net'
import { FwpError, ReplyDecoder } from '@crossgear/fwp-codec'
import type { PassedClient } from '../clients/copy-side.ts'
import { PassedConnection, type Tap } from '../clients/passed-connection.ts'
import type { ServerAddress } from '../server-address.ts'

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
    const fromServer = new ReplyTap(
      () => (this.#replies += 1),
      () => (this.#replies = Infinity),
    )
    this.#connection = new PassedConnection(client, { address, fromClient, fromServer, onClose })
  }

  get isIdle(): boolean {
    return this.#replies >= this.#commands
  }

  end(): void {
    this.#connection.end()
  }
}

/** Counts the replies of a Faktory server that go by. */
class ReplyTap implements Tap {
  readonly #decoder = new ReplyDecoder({ keepsBodies: false })
  readonly #onReply: () => void
  readonly #onLost: () => void
  #isLost = false

  /** `onLost`: the server does not speak the protocol, so that nothing can be counted any more. */
  constructor(onReply: () => void, onLost: () => void) {
    this.#onReply = onReply
    this.#onLost = onLost
  }

  push(chunk: Buffer): void {
    if (this.#isLost) return
    try {
      this.#decoder.push(chunk)
      while (this.#decoder.next()) this.#onReply()
    } catch (error) {
      if (!(error instanceof FwpError)) throw error
      this.#isLost = true
      this.#onLost()
    }
  }
}

const lineFeed = 0x0a

/** Called with a line without its end. `isCut`: it is longer than what is kept of a line. */
type OnLine = (line: Buffer, isCut: boolean) => void

/** Reads the lines of a stream that goes by, in bounded memory. */
class LineTap implements Tap {
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
