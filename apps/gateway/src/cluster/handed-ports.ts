import { Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { OpenPort, PortRequest, Surplus } from '../net/open-port.ts'
import type { HandedConnection, ToParent } from './messages.ts'

/**
 * Ports of a process that does not listen itself: its parent hands it connections. The doors see no
 * difference.
 */
export class HandedPorts {
  /** In the order in which the doors asked: the same in every process. */
  readonly portRequests: PortRequest[] = []
  readonly #servers: Server[] = []
  readonly #surplus = new WeakMap<Socket, Surplus>()
  readonly #send: (message: ToParent) => void

  constructor(send: (message: ToParent) => void) {
    this.#send = send
  }

  readonly open: OpenPort = (create, portRequest) => {
    const port = this.portRequests.push(portRequest) - 1
    const server = create()
    this.#servers.push(server)
    // From now on an HTTP server checks for slow requests.
    server.emit('listening')
    let isShut = false
    return Promise.resolve({
      address: { host: portRequest.host, port: portRequest.port },
      stop: () => {
        if (!isShut) this.#send({ what: 'shut', port })
        isShut = true
      },
      surplusOf: (socket) => this.#surplus.get(socket),
    })
  }

  /** Shuts all ports. */
  shutAll(): void {
    for (const port of this.portRequests.keys()) this.#send({ what: 'shut', port })
  }

  /**
   * Takes a connection, or the news that it died on the way. The parent does not count a surplus
   * one.
   */
  take({ port, address, surplus }: HandedConnection, socket: Socket | undefined): void {
    const closed = (): void => {
      if (!surplus) this.#send({ what: 'closed', port, address })
    }
    const server = this.#servers[port]
    if (!server || !socket) {
      closed()
      return
    }
    // As Node's own HTTP server does: a client may end its side after its request.
    socket.allowHalfOpen = server instanceof HttpServer
    if (surplus) this.#surplus.set(socket, surplus)
    socket.once('close', closed)
    server.emit('connection', socket)
  }
}
