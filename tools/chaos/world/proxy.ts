import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/**
 * How bytes pass in both directions: `pass`, `delay` each by some time, `slow` in small pieces, or
 * `hole`: take them and pass none on, like a network whose other half is gone.
 */
export type LinkMode = 'pass' | 'delay' | 'slow' | 'hole'

const delayMs = 120
const slowPieceBytes = 512
const slowEveryMs = 5

interface Pair {
  readonly client: Socket
  readonly server: Socket
  /** The end of one half does not end the other. */
  isHalved: boolean
}

/** A TCP proxy that can spoil the connections that go through it. */
export class Proxy {
  readonly #server: Server
  readonly #targetPort: number
  readonly #pairs = new Set<Pair>()
  #mode: LinkMode = 'pass'

  private constructor(targetPort: number) {
    this.#targetPort = targetPort
    this.#server = createServer((socket) => this.#take(socket))
  }

  static async start(targetPort: number): Promise<Proxy> {
    const proxy = new Proxy(targetPort)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** From now on. Bytes swallowed by a hole are lost. */
  set mode(mode: LinkMode) {
    this.#mode = mode
  }

  /** Resets every connection. */
  reset(): void {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy()
      server.resetAndDestroy()
    }
    this.#pairs.clear()
  }

  /** Ends the client's half of every connection; the server's half stays open and silent. */
  halve(): void {
    for (const pair of this.#pairs) {
      pair.isHalved = true
      pair.client.destroy()
    }
  }

  close(): void {
    this.reset()
    this.#server.close()
  }

  #take(client: Socket): void {
    const server = connect({ port: this.#targetPort, host: '127.0.0.1', noDelay: true })
    client.setNoDelay(true)
    const pair: Pair = { client, server, isHalved: false }
    this.#pairs.add(pair)
    this.#pump(client, server)
    this.#pump(server, client)
    this.#join(pair, client, server)
    this.#join(pair, server, client)
  }

  #join(pair: Pair, one: Socket, other: Socket): void {
    one.on('error', () => undefined)
    one.on('close', () => {
      if (pair.isHalved || this.#mode === 'hole') return
      this.#pairs.delete(pair)
      other.destroy()
    })
  }

  #pump(from: Socket, to: Socket): void {
    let last = Promise.resolve()
    from.on('data', (chunk) => {
      if (this.#mode === 'pass') last = last.then(() => void to.write(chunk))
      else if (this.#mode === 'delay') last = last.then(() => later(() => to.write(chunk), delayMs))
      else if (this.#mode === 'slow') last = last.then(() => drip(chunk, to))
    })
  }
}

function later(act: () => void, ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(() => {
      act()
      resolve()
    }, ms)
  })
}

async function drip(chunk: Buffer, to: Socket): Promise<void> {
  for (let at = 0; at < chunk.length && !to.destroyed; at += slowPieceBytes) {
    await later(() => to.write(chunk.subarray(at, at + slowPieceBytes)), slowEveryMs)
  }
}
