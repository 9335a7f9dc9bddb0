import type { Socket } from 'node:net'
import type { PassedClient } from '../clients/copy-side.ts'
import { PassedConnection } from '../clients/passed-connection.ts'
import type { ServerAddress } from '../server-address.ts'
import { LineTap } from './line-tap.ts'
import { ReplyTap } from './reply-tap.ts'

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
