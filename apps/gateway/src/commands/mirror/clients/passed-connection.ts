import { connect, type Socket } from 'node:net'
import type { ServerAddress } from '../server-address.ts'

/** Reads the bytes that go by, in bounded memory. */
export interface Tap {
  push(chunk: Buffer): void
}

export interface PassedOptions {
  /** The server that the client is passed on to. */
  readonly address: ServerAddress
  readonly fromClient: Tap
  readonly fromServer: Tap
  readonly onClose: () => void
}

/** A client and its server, with every byte passed on as it is. */
export class PassedConnection {
  readonly #client: Socket
  readonly #server: Socket

  constructor(client: Socket, { address, fromClient, fromServer, onClose }: PassedOptions) {
    this.#client = client
    this.#server = connect(address.port, address.host)
    pass(client, this.#server, fromClient)
    pass(this.#server, client, fromServer)
    let open = 2
    for (const socket of [client, this.#server]) {
      socket.setNoDelay(true)
      socket.on('error', () => this.end())
      socket.on('close', () => {
        open -= 1
        this.end()
        if (open === 0) onClose()
      })
    }
  }

  end(): void {
    this.#client.destroySoon()
    this.#server.destroySoon()
  }
}

/** Passes bytes on, and reads no more than the other end takes. */
function pass(from: Socket, to: Socket, tap: Tap): void {
  from.on('data', (chunk: Buffer) => {
    if (!to.write(chunk)) {
      from.pause()
      to.once('drain', () => from.resume())
    }
    tap.push(chunk)
  })
  from.on('end', () => to.end())
}
