import { createServer, type Server, type Socket } from 'node:net'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { AddressCounts, countedAddress } from './addresses.ts'
import type { ListenAddress } from './listen.ts'
import { type OpenedPort, openHere, type OpenPort, type Surplus } from './open-port.ts'
import { createTlsServer, type TlsOptions } from './tls.ts'

/** How connections of a port are taken. Defaults at the end of each line. */
export interface SocketOptions {
  /** Connections that wait to be accepted; the system may hold fewer. 1024. */
  readonly backlog?: number
  /** Idle time before TCP asks whether a peer still lives, ms. 60000. */
  readonly keepAliveMs?: number
  /** Connections of one address at once; an IPv6 network of 64 bits counts as one; 0: any number. 0. */
  readonly maxPerAddress?: number
  /** How a port is opened. By this process itself. */
  readonly open?: OpenPort
}

export interface ListenerOptions {
  /** An address, a name (then every address that it stands for) or `*` for all of the machine. */
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** The option that chooses the port, for the line that says that it is in use. */
  readonly portFlag: string
  /** Connections at once; one more is closed, after `refuse` had its say. */
  readonly maxConnections: number
  readonly sockets?: SocketOptions
  /** With it the port speaks TLS: `connected` is given the socket after the handshake. */
  readonly tls?: TlsOptions
  /** Makes the server for each address, where it is to be of another kind than node:net's. */
  readonly server?: () => Server
  readonly connected: (socket: Socket) => void
  readonly refuse?: (socket: Socket, surplus: Surplus) => void
  /** A connection was taken, or is gone: for the metrics. */
  readonly opened?: () => void
  readonly closed?: () => void
  /** A TLS handshake failed; its connection counts as opened and closed. */
  readonly handshakeFailed?: () => void
}

/** How long the last bytes of a connection that is closed may take to leave, milliseconds. */
const lastBytesMs = 500

interface Traffic {
  bytesIn: number
  bytesOut: number
}

/** One listening port and its connections. */
export class Listener {
  readonly #options: ListenerOptions
  readonly #sockets = new Set<Socket>()
  readonly #addresses = new AddressCounts()
  #port: OpenedPort | undefined
  /** Bytes of connections that are gone. */
  readonly #past: Traffic = { bytesIn: 0, bytesOut: 0 }

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  get connections(): number {
    return this.#sockets.size
  }

  /** Bytes of all connections so far. */
  traffic(): Readonly<Traffic> {
    const total = { ...this.#past }
    for (const socket of this.#sockets) addTraffic(total, socket)
    return total
  }

  /** Opens the port. Throws a StartError that says what to do. */
  async listen(): Promise<ListenAddress> {
    const {
      host,
      port,
      portFlag: flag,
      sockets: { backlog = 1_024, open = openHere } = {},
    } = this.#options
    this.#port = await open(() => this.#createServer(), { host, port, flag, backlog })
    return this.#port.address
  }

  /** Takes no more connections; those that stand go on. */
  stopAccepting(): void {
    this.#port?.stop()
  }

  /** Ends all connections; what was said on them before still leaves, if the peer reads. */
  async close(): Promise<void> {
    this.stopAccepting()
    await endOfTurn()
    const ended = [...this.#sockets].map((socket) => {
      socket.destroySoon()
      return new Promise((resolve) => socket.once('close', resolve))
    })
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy()
    }, lastBytesMs)
    await Promise.all(ended)
    clearTimeout(timer)
  }

  #createServer(): Server {
    const { tls, connected, handshakeFailed = () => undefined, server } = this.#options
    if (tls) {
      return createTlsServer(tls, {
        accepted: (socket) => this.#accept(socket),
        secured: connected,
        failed: handshakeFailed,
      })
    }
    const own = server?.() ?? createServer({ noDelay: true })
    return own.on('connection', (socket: Socket) => {
      if (this.#accept(socket)) connected(socket)
    })
  }

  /** True if the connection is taken. */
  #accept(socket: Socket): boolean {
    const address = countedAddress(socket.remoteAddress ?? '')
    const surplus = this.#port?.surplusOf?.(socket) ?? this.#surplusOf(address)
    if (surplus) {
      socket.on('error', () => socket.destroy())
      // Plain words mean nothing to a peer that waits for a handshake.
      if (this.#options.tls) socket.destroy()
      this.#options.refuse?.(socket, surplus)
      socket.destroySoon()
      return false
    }
    socket.setKeepAlive(true, this.#options.sockets?.keepAliveMs ?? 60_000)
    this.#sockets.add(socket)
    this.#addresses.add(address)
    this.#options.opened?.()
    socket.once('close', () => {
      this.#sockets.delete(socket)
      addTraffic(this.#past, socket)
      this.#addresses.remove(address)
      this.#options.closed?.()
    })
    return true
  }

  #surplusOf(address: string): Surplus | undefined {
    const { maxConnections, sockets } = this.#options
    if (this.#sockets.size >= maxConnections) return 'connections'
    const max = sockets?.maxPerAddress ?? 0
    return max > 0 && this.#addresses.of(address) >= max ? 'address_connections' : undefined
  }
}

function addTraffic(total: Traffic, { bytesRead, bytesWritten }: Socket): void {
  total.bytesIn += bytesRead
  total.bytesOut += bytesWritten
}
