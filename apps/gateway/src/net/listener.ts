import { createServer, type Server, type Socket } from 'node:net'
import { listenOn, type ListenAddress } from '../lifecycle/listen.ts'

export interface ListenerOptions {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** The option that chooses the port, for the line that says that it is in use. */
  readonly portFlag: string
  /** Connections at once; one more is closed, after `refuse` had its say. */
  readonly maxConnections: number
  readonly connected: (socket: Socket) => void
  readonly refuse?: (socket: Socket) => void
}

/** Idle time before TCP asks whether a peer still lives, milliseconds. */
const keepAliveAfterMs = 60_000
/** Connections that wait to be accepted. */
const backlog = 1_024

/** One listening port and its connections. */
export class Listener {
  readonly #server: Server
  readonly #options: ListenerOptions
  readonly #sockets = new Set<Socket>()

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket))
  }

  get connections(): number {
    return this.#sockets.size
  }

  /** Opens the port. Throws a StartError that says what to do. */
  listen(): Promise<ListenAddress> {
    const { host, port, portFlag } = this.#options
    return listenOn(this.#server, { host, port }, portFlag, backlog)
  }

  /** Takes no more connections; those that stand go on. */
  stopAccepting(): void {
    if (this.#server.listening) this.#server.close()
  }

  /** Ends all connections. */
  close(): Promise<void> {
    this.stopAccepting()
    for (const socket of this.#sockets) socket.destroy()
    return Promise.resolve()
  }

  #accept(socket: Socket): void {
    if (this.#sockets.size >= this.#options.maxConnections) {
      socket.on('error', () => socket.destroy())
      this.#options.refuse?.(socket)
      socket.destroySoon()
      return
    }
    socket.setKeepAlive(true, keepAliveAfterMs)
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    this.#options.connected(socket)
  }
}
