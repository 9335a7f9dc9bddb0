import { createServer, type Socket } from 'node:net'
import type { ListenAddress } from '../lifecycle/listen.ts'
import { openHere, type OpenedPort, type PortWish } from '../net/open-port.ts'
import type { GatewayProcess } from './gateway-process.ts'

export interface DoorkeeperParts {
  /** Connections of a port at once, over all processes. */
  readonly maxConnections: number
  readonly processes: () => readonly GatewayProcess[]
}

/**
 * Listens for all processes, and hands each connection to the one that has the fewest of its port. While
 * there is none, connections wait: a process that is started again finds them.
 */
export class Doorkeeper {
  readonly #parts: DoorkeeperParts
  readonly #ports: OpenedPort[] = []
  readonly #waiting: { readonly port: number; readonly socket: Socket }[] = []
  #last = 0
  #isStopping = false

  constructor(parts: DoorkeeperParts) {
    this.#parts = parts
  }

  /**
   * Opens the ports that each process wished for, in the same order.
   *
   * @throws StartError that says what to do.
   */
  async open(wishes: readonly PortWish[]): Promise<readonly ListenAddress[]> {
    for (const [port, wish] of wishes.entries()) {
      // Paused: what a peer says first is for the process that gets it.
      const create = () =>
        createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
          socket.on('error', () => socket.destroy())
          this.#place(port, socket)
        })
      this.#ports.push(await openHere(create, wish))
    }
    return this.#ports.map(({ address }) => address)
  }

  /** A process came, or shut a port. A port that all have shut is closed once the gateway stops. */
  look(): void {
    for (const { port, socket } of this.#waiting.splice(0)) this.#place(port, socket)
    if (!this.#isStopping) return
    for (const [port, opened] of this.#ports.entries()) {
      if (!this.#parts.processes().some((process) => process.takes(port))) opened.stop()
    }
  }

  /** Ports are closed as the processes shut them. */
  stopping(): void {
    this.#isStopping = true
    this.look()
  }

  close(): void {
    this.#isStopping = true
    for (const opened of this.#ports) opened.stop()
    for (const { socket } of this.#waiting.splice(0)) socket.destroy()
  }

  #place(port: number, socket: Socket): void {
    const processes = this.#parts.processes()
    const taken = processes.reduce((sum, process) => sum + process.connections(port), 0)
    const waiting = this.#waiting.filter((other) => other.port === port).length
    const isSurplus = taken + waiting >= this.#parts.maxConnections
    const process = this.#choose(port)
    if (process) {
      process.hand(port, isSurplus, socket, () => this.#place(port, socket))
    } else if (isSurplus || this.#isStopping) socket.destroy()
    else this.#waiting.push({ port, socket })
  }

  /** The one with the fewest connections; of equals, the next in turn. */
  #choose(port: number): GatewayProcess | undefined {
    const all = this.#parts.processes()
    let best: GatewayProcess | undefined
    let place = 0
    for (let step = 1; step <= all.length; step += 1) {
      const at = (this.#last + step) % all.length
      const process = all[at]
      if (!process?.takes(port)) continue
      if (best && best.connections(port) <= process.connections(port)) continue
      best = process
      place = at
    }
    if (best) this.#last = place
    return best
  }
}
