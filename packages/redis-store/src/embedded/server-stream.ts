import { Duplex } from 'node:stream'

/** The server's client, at the other end of a connection. */
export interface ServerClient {
  /** Takes an answer or a message. False: it wants no more until `drained` of its connection is called. */
  receive(bytes: Buffer): boolean
  /** The server has closed the connection. */
  closed(): void
}

/** A connection, as the client has it. */
export interface ClientConnection {
  send(bytes: Buffer): void
  drained(): void
  /** The client has left. */
  end(): void
}

/** A client's stream to a server inside this process, with those parts of a socket that clients use. */
export class ServerStream extends Duplex {
  readonly connecting = false
  readonly #connection: ClientConnection

  constructor(open: (client: ServerClient) => ClientConnection) {
    super({ allowHalfOpen: false })
    this.#connection = open({
      receive: (bytes) => this.push(bytes),
      closed: () => {
        this.push(null)
        this.destroy()
      },
    })
  }

  override _read(): void {
    this.#connection.drained()
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#connection.send(bytes)
    done()
  }

  override _final(done: () => void): void {
    this.#connection.end()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#connection.end()
    done(error)
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  /** Nothing is late inside a process. */
  setTimeout(): this {
    return this
  }
}
