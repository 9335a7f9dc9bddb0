import { createServer, type Server, type Socket } from 'node:net'

export interface ListenerOptions {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** Connections at once; one more is closed, after `refuse` had its say. */
  readonly maxConnections: number
  readonly connected: (socket: Socket) => void
  readonly refuse?: (socket: Socket) => void
}

/** Idle time before TCP asks whether a peer still lives, milliseconds. */
const keepAliveAfterMs = 60_000

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

  /** Opens the port. Throws the system's error (`EADDRINUSE`, `EACCES`, ...). */
  listen(): Promise<{ host: string; port: number }> {
    const { host, port } = this.#options
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ host, port, backlog: 1024 }, () => {
        this.#server.off('error', reject)
        const address = this.#server.address()
        resolve({ host, port: typeof address === 'object' && address ? address.port : port })
      })
    })
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
