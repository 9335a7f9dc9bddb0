import { createServer, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type Server as SecureServer } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { endBroken } from '../doors/http/broken-requests.ts'
import { AddressCounts, countedAddress } from '../doors/net/addresses.ts'
import { defaultHandshakeMs, handshakeFaultOf, type TlsOptions } from '../doors/net/tls.ts'
import type { WebLimit } from '../operations/web-limits.ts'

export interface WebBounds {
  /** Connections at a time. */
  readonly connections: number
  /** Connections of one address: room is left for the others. */
  readonly ofAddress: number
}

const bounds: WebBounds = { connections: 1_000, ofAddress: 500 }

/**
 * Times in ms, for Node's server. A client without a head keeps no connection from others. Proxies keep unused connections for
 * a minute; one that the gateway closed earlier could be closed just as a proxy sends its next request.
 */
export const webTimes = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 1_000,
}

/** A server of HTTP, or of HTTPS. */
export type AnyServer = Server | SecureServer

/** The server of the web port. With `tls` it speaks HTTPS alone. */
export function serverOf(tls: TlsOptions | undefined, times = webTimes): AnyServer {
  if (!tls) return createServer(times)
  const { cert, key, handshakeMs = defaultHandshakeMs } = tls
  const server = createTlsServer({ ...times, cert, key, handshakeTimeout: handshakeMs })
  // Node's own listener treats a failed handshake as a broken request, and answers it.
  return server.removeAllListeners('tlsClientError')
}

export interface WebConnectionEvents {
  /** A limit was exceeded, by a client of this address. */
  readonly limited: (limit: WebLimit, address?: string) => void
  readonly opened?: () => void
  readonly closed?: () => void
}

interface Known {
  readonly name: string
  readonly socket: Socket
  readonly address: string
  /** Answers that the client does not have in full, the last one at the end. */
  readonly responses: Set<ServerResponse>
}

/** The connections of the web port. Where too many are open, a new one takes the place of the oldest that nothing is done for. */
export class WebConnections {
  #events: WebConnectionEvents = { limited: () => undefined }
  readonly #limits: WebBounds
  /** By the name of the connection, in the order of their last requests. */
  readonly #known = new Map<string, Known>()
  readonly #addresses = new AddressCounts()

  constructor(server: AnyServer, limits = bounds) {
    this.#limits = limits
    server.on('connection', (socket: Socket) => this.#accept(socket))
    server.on('request', ({ socket }, response) => this.#asked(socket, response))
    server.on('clientError', (error: Error, socket: Socket) => {
      const responses = this.#known.get(nameOf(socket))?.responses ?? new Set()
      const isOwed = [...responses].some(({ req, headersSent }) => req.complete || headersSent)
      const breach = endBroken(error, socket, isOwed)
      if (breach) this.#events.limited(breach, socket.remoteAddress)
    })
    server.on('tlsClientError', (error: Error, socket: TLSSocket) => {
      this.#events.limited(handshakeFaultOf(error), socket.remoteAddress)
      socket.destroy()
    })
  }

  /** Reports to these from now on. */
  report(events: WebConnectionEvents): void {
    this.#events = events
  }

  #accept(socket: Socket): void {
    const name = nameOf(socket)
    const address = countedAddress(socket.remoteAddress ?? '')
    const limit = this.#exceededBy(address)
    if (limit) {
      this.#events.limited(limit, socket.remoteAddress)
      const oldest = this.#oldestUnused(limit === 'address_connections' ? address : undefined)
      ;(oldest?.socket ?? socket).destroy()
      if (!oldest) return
      this.#forget(oldest)
    }
    const known: Known = { name, socket, address, responses: new Set() }
    this.#known.set(name, known)
    this.#addresses.add(address)
    this.#events.opened?.()
    socket.once('close', () => this.#forget(known))
  }

  #exceededBy(address: string): 'connections' | 'address_connections' | undefined {
    const { connections, ofAddress } = this.#limits
    if (this.#known.size >= connections) return 'connections'
    return this.#addresses.of(address) >= ofAddress ? 'address_connections' : undefined
  }

  #asked(socket: Socket, response: ServerResponse): void {
    const name = nameOf(socket)
    const known = this.#known.get(name)
    if (!known) return
    known.responses.add(response)
    response.once('close', () => known.responses.delete(response))
    this.#known.delete(name)
    this.#known.set(name, known)
  }

  /** The oldest connection without a complete request, or whose client does not read its answers. */
  #oldestUnused(address: string | undefined): Known | undefined {
    for (const known of this.#known.values()) {
      const isOther = address !== undefined && known.address !== address
      if (!isOther && ![...known.responses].some(isWorkedOn)) return known
    }
    return undefined
  }

  #forget(known: Known): void {
    if (this.#known.get(known.name) !== known) return
    this.#known.delete(known.name)
    this.#addresses.remove(known.address)
    this.#events.closed?.()
  }
}

/** The two ends of a connection: its own socket has the same as the one that TLS makes of it. */
function nameOf({ remoteAddress = '', remotePort = 0, localPort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localPort}`
}

function isWorkedOn({ req, writableEnded, destroyed }: ServerResponse): boolean {
  return req.complete && !writableEnded && !destroyed
}
