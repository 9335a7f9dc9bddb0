import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** One connection over a line. */
interface Leg {
  readonly client: Socket
  /** BRPOP was asked for on it. */
  polls: boolean
  isFrozen: boolean
}

/** A line to a server, with faults. */
export class Line {
  /** The next time that this is asked for the connection is cut in the place of the answer. */
  cutAfter: string | undefined
  /** Times that it was. */
  cuts = 0
  readonly #legs = new Set<Leg>()
  #server: Server | undefined

  async open(port: number, path: string): Promise<void> {
    this.#server = createServer((client) => this.#join(client, connect(path)))
    await once(this.#server.listen(port, '127.0.0.1'), 'listening')
  }

  /** Connections through which something comes. */
  get living(): number {
    return [...this.#legs].filter(({ isFrozen }) => !isFrozen).length
  }

  /** Cuts the connections that wait for jobs, and lets nothing more through the others. */
  breakDown(): void {
    for (const leg of this.#legs) {
      if (leg.polls) leg.client.destroy()
      else leg.isFrozen = true
    }
  }

  close(): void {
    for (const { client } of this.#legs) client.destroy()
    this.#server?.close()
  }

  #join(client: Socket, there: Socket): void {
    const leg: Leg = { client, polls: false, isFrozen: false }
    let isLost = false
    this.#legs.add(leg)
    for (const socket of [client, there]) socket.on('error', () => undefined)
    client.on('close', () => {
      this.#legs.delete(leg)
      there.destroy()
    })
    client.on('data', (chunk) => {
      const words = chunk.toString('latin1')
      leg.polls ||= /brpop/i.test(words)
      if (this.cutAfter !== undefined && words.includes(this.cutAfter)) {
        this.cutAfter = undefined
        this.cuts += 1
        isLost = true
      }
      if (!leg.isFrozen) there.write(chunk)
    })
    there.on('data', (chunk) => {
      if (isLost) client.destroy()
      else if (!leg.isFrozen) client.write(chunk)
    })
  }
}
