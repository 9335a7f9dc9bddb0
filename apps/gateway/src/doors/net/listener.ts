import { createServer, type Server, type Socket } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import type { Clock } from '@crossgear/core-scheduler'
import { AddressCounts, countedAddress } from './addresses.ts'
import { systemClock } from './clock.ts'
import type { Descriptors } from './descriptors.ts'
import type { ListenAddress } from './listen.ts'
import { type OpenedPort, openHere, type OpenPort, type Surplus } from './open-port.ts'
import { createTlsServer, type HandshakeFault, type TlsOptions } from './tls.ts'

/** Options for the connections of a port. Defaults at the end of each line. */
export interface SocketOptions {
  /** Connections waiting to be accepted; the system may allow fewer. 1024. */
  readonly backlog?: number
  /** Idle time before TCP probes a peer, ms. 60000. */
  readonly keepAliveMs?: number
  /** Most connections of one address (an IPv6 /64 network counts as one); 0: any number. 0. */
  readonly maxPerAddress?: number
  /** File descriptors of the process, which its ports share. Any number. */
  readonly descriptors?: Descriptors
  /** Opens the port. By this process itself. */
  readonly open?: OpenPort
}

export interface ListenerOptions {
  /** An address, a name (then all its addresses) or `*` for all of the machine. */
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** The option that chooses the port, for the error that it is in use. */
  readonly portFlag: string
  /** Most connections; one more is closed after `refuse`. */
  readonly maxConnections: number
  readonly sockets?: SocketOptions
  /** Timers and turns of the event loop. The process's own. */
  readonly clock?: Clock | undefined
  /** With it the port speaks TLS: `connected` gets the socket after the handshake. */
  readonly tls?: TlsOptions
  /** Makes the server for each address. node:net's. */
  readonly server?: () => Server
  /** The connections' handlers answer a peer that has closed its half, and end it then. false. */
  readonly allowHalfOpen?: boolean
  readonly connected: (socket: Socket) => void
  readonly refuse?: (socket: Socket, surplus: Surplus) => void
  /** A connection was accepted or ended, for the metrics. */
  readonly opened?: () => void
  readonly closed?: () => void
  /** A TLS handshake failed; its connection counts as opened and closed. */
  readonly handshakeFailed?: (reason: HandshakeFault, address: string | undefined) => void
}

/** Time for the last bytes of a closed connection to leave, milliseconds. */
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
  /** Servers of a port that speaks TLS, one for each address. */
  readonly #tlsServers: TlsServer[] = []
  #port: OpenedPort | undefined
  /** Bytes of ended connections. */
  readonly #past: Traffic = { bytesIn: 0, bytesOut: 0 }

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  /** The address of the listener, once the port is open. */
  get address(): ListenAddress | undefined {
    return this.#port?.address
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

  /** Connections from now on get this certificate; nothing where the port speaks no TLS. */
  renewTls({ cert, key, ca }: TlsOptions): void {
    for (const server of this.#tlsServers) server.setSecureContext({ cert, key, ...(ca && { ca }) })
  }

  /** Accepts no more connections; open ones go on. */
  stopAccepting(): void {
    this.#port?.stop()
  }

  /** Ends all connections; bytes sent before still leave if the peer reads. */
  async close(): Promise<void> {
    this.stopAccepting()
    const { clock = systemClock } = this.#options
    await new Promise<void>((resolve) => clock.endOfTurn(resolve))
    const ended = [...this.#sockets].map((socket) => {
      socket.destroySoon()
      return new Promise((resolve) => socket.once('close', resolve))
    })
    const cancel = clock.after(lastBytesMs, () => {
      for (const socket of this.#sockets) socket.destroy()
    })
    await Promise.all(ended)
    cancel()
  }

  #createServer(): Server {
    const { tls, connected, handshakeFailed = () => undefined, server } = this.#options
    const { allowHalfOpen = false } = this.#options
    if (tls) {
      const secured = createTlsServer(tls, {
        accepted: (socket) => this.#accept(socket),
        secured: connected,
        failed: handshakeFailed,
      })
      this.#tlsServers.push(secured)
      return secured
    }
    const own = server?.() ?? createServer({ noDelay: true, allowHalfOpen })
    return own.on('connection', (socket: Socket) => {
      if (this.#accept(socket)) connected(socket)
    })
  }

  /** True if the connection is accepted. */
  #accept(socket: Socket): boolean {
    const address = countedAddress(socket.remoteAddress ?? '')
    const surplus = this.#surplusOf(address)
    if (surplus) {
      socket.on('error', () => socket.destroy())
      // Plain text means nothing to a peer that waits for a handshake.
      if (this.#options.tls) socket.destroy()
      this.#options.refuse?.(socket, surplus)
      socket.destroySoon()
      return false
    }
    socket.setKeepAlive(true, this.#options.sockets?.keepAliveMs ?? 60_000)
    this.#sockets.add(socket)
    this.#addresses.add(address)
    this.#options.sockets?.descriptors?.take()
    this.#options.opened?.()
    socket.once('close', () => {
      this.#sockets.delete(socket)
      addTraffic(this.#past, socket)
      this.#addresses.remove(address)
      this.#options.sockets?.descriptors?.giveBack()
      this.#options.closed?.()
    })
    return true
  }

  #surplusOf(address: string): Surplus | undefined {
    const { maxConnections, sockets } = this.#options
    if (this.#sockets.size >= maxConnections) return 'connections'
    if (sockets?.descriptors?.isEmpty) return 'file_descriptors'
    const max = sockets?.maxPerAddress ?? 0
    return max > 0 && this.#addresses.of(address) >= max ? 'address_connections' : undefined
  }
}

function addTraffic(total: Traffic, { bytesRead, bytesWritten }: Socket): void {
  total.bytesIn += bytesRead
  total.bytesOut += bytesWritten
}
