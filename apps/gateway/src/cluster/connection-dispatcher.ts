import { createServer, type Socket } from 'node:net'
import { countedAddress } from '../net/addresses.ts'
import type { ListenAddress } from '../net/listen.ts'
import {
  type OpenedPort,
  openHere,
  type OpenPort,
  type PortRequest,
  type Surplus,
} from '../net/open-port.ts'
import type { GatewayProcess } from './gateway-process.ts'

/** Most connections on their way to one process; more go to others, or wait. */
const mostUnsent = 8

export interface DispatcherParts {
  /** Connections of a port, over all processes. */
  readonly maxConnections: number
  /** Connections of one address; 0: any number. */
  readonly maxPerAddress: number
  readonly processes: () => readonly GatewayProcess[]
  /** How ports are opened. By this process itself. */
  readonly openPort?: OpenPort
}

/**
 * Listens for all processes and hands each connection to the one with the fewest on its port.
 * Connections wait while no process can take one: a frozen process gets no more, and a restarted
 * one finds them.
 */
export class ConnectionDispatcher {
  readonly #parts: DispatcherParts
  readonly #ports: OpenedPort[] = []
  /** By port. */
  readonly #waiting: Socket[][] = []
  #last = 0
  #isStopping = false

  constructor(parts: DispatcherParts) {
    this.#parts = parts
  }

  /**
   * Opens the ports that each process requested, in the same order.
   *
   * @throws StartError that says what to do.
   */
  async open(portRequests: readonly PortRequest[]): Promise<readonly ListenAddress[]> {
    const open = this.#parts.openPort ?? openHere
    for (const [port, portRequest] of portRequests.entries()) {
      // Paused: the first bytes are for the process that gets the connection.
      const create = () =>
        createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
          socket.on('error', () => socket.destroy())
          this.#arrived(port, socket)
        })
      this.#waiting.push([])
      this.#ports.push(await open(create, portRequest))
    }
    return this.#ports.map(({ address }) => address)
  }

  /** A process was added, or can take more connections. */
  look(): void {
    for (const [port, waiting] of this.#waiting.entries()) {
      while (waiting.length > 0) {
        const process = this.#choose(port)
        if (!process) break
        const socket = waiting.shift()
        if (socket) this.#hand(process, port, socket)
      }
    }
    if (this.#isStopping) this.#stopShut()
  }

  /** From now on ports close as the processes shut them. */
  stopping(): void {
    this.#isStopping = true
    this.look()
  }

  close(): void {
    this.#isStopping = true
    for (const opened of this.#ports) opened.stop()
    for (const waiting of this.#waiting) for (const socket of waiting.splice(0)) socket.destroy()
  }

  #arrived(port: number, socket: Socket): void {
    const waiting = this.#waiting[port] ?? []
    const process = waiting.length === 0 ? this.#choose(port) : undefined
    if (process) this.#hand(process, port, socket)
    else if (this.#taken(port) + waiting.length >= this.#parts.maxConnections) socket.destroy()
    else waiting.push(socket)
  }

  #hand(process: GatewayProcess, port: number, socket: Socket): void {
    const address = countedAddress(socket.remoteAddress ?? '')
    const surplus = this.#surplusOf(port, address)
    this.#last = this.#parts.processes().indexOf(process)
    const connection = { port, address, ...(surplus && { surplus }) }
    process.hand(connection, socket, () => this.#arrived(port, socket))
  }

  #surplusOf(port: number, address: string): Surplus | undefined {
    const { maxConnections, maxPerAddress, processes } = this.#parts
    if (this.#taken(port) >= maxConnections) return 'connections'
    if (maxPerAddress === 0) return undefined
    const taken = processes().reduce((sum, one) => sum + one.connectionsOf(port, address), 0)
    return taken >= maxPerAddress ? 'address_connections' : undefined
  }

  #taken(port: number): number {
    return this.#parts.processes().reduce((sum, process) => sum + process.connections(port), 0)
  }

  /** A port that all processes have shut is closed once the gateway stops. */
  #stopShut(): void {
    for (const [port, opened] of this.#ports.entries()) {
      if (!this.#parts.processes().some((process) => process.takes(port))) opened.stop()
    }
  }

  /** The available process with the fewest connections; of equals, the next in turn. */
  #choose(port: number): GatewayProcess | undefined {
    const all = this.#parts.processes()
    let best: GatewayProcess | undefined
    for (let step = 1; step <= all.length; step += 1) {
      const process = all[(this.#last + step) % all.length]
      if (!process?.takes(port) || process.unsent >= mostUnsent) continue
      if (best && best.connections(port) <= process.connections(port)) continue
      best = process
    }
    return best
  }
}
