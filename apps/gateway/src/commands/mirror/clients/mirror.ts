import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { reaching } from '@crossgear/migration'
import type { MirrorCounts } from '../counts.ts'
import type { ServerAddress } from '../server-address.ts'
import type { CopySide, PassedClient } from './copy-side.ts'

const sweepEveryMs = 1_000
/** Most client connections. */
const maxConnections = 10_000

export interface MirrorOptions {
  readonly from: ServerAddress
  /** Name of the server that copies go to. */
  readonly to: string
  readonly listen: Pick<ServerAddress, 'host' | 'port'>
  readonly side: CopySide
  readonly counts: MirrorCounts
}

/**
 * Stands between clients and the server that does their jobs, passes every byte on, and lets copies of jobs be submitted to
 * another server.
 */
export class Mirror {
  readonly #options: MirrorOptions
  readonly #clients = new Set<PassedClient>()
  readonly #server: Server
  #sweeper: ReturnType<typeof setInterval> | undefined
  #isListening = false

  constructor(options: MirrorOptions) {
    this.#options = options
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket))
    this.#server.maxConnections = maxConnections
  }

  get counts(): MirrorCounts {
    return this.#options.counts
  }

  /** The port that clients come to. Throws a MigrationError where a side cannot be reached. */
  async open(): Promise<number> {
    const { from, to, listen, side } = this.#options
    await reaching(from.name, async () => {
      const probe = connect(from.port, from.host)
      await once(probe, 'connect')
      probe.destroy()
    })
    await reaching(to, () => side.open())
    await reaching(`--listen ${listen.host}:${listen.port}`, async () => {
      this.#server.listen(listen.port, listen.host)
      await once(this.#server, 'listening')
    })
    this.#isListening = true
    this.#sweeper = setInterval(() => side.sweep(Date.now()), sweepEveryMs)
    return (this.#server.address() as AddressInfo).port
  }

  /** Takes no new client and copies no more jobs; true when nobody waits any more. */
  wind(): boolean {
    if (this.#isListening) this.#server.close()
    this.#isListening = false
    this.#options.side.stop()
    return [...this.#clients].every((client) => client.isIdle) && this.#options.side.isIdle
  }

  close(): void {
    this.wind()
    clearInterval(this.#sweeper)
    for (const client of this.#clients) client.end()
    this.#options.side.close()
  }

  #accept(socket: Socket): void {
    const client = this.#options.side.accept(socket, () => this.#clients.delete(client))
    this.#clients.add(client)
  }
}
