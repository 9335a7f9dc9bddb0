import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { lineOf, MigrationError } from '@crossgear/migration'
import { ClientConnection } from './client-connection.ts'
import type { Comparison } from '../results/comparison.ts'
import { Comparisons, type Difference } from '../results/comparisons.ts'
import { CopyConnection } from './copy-connection.ts'
import { type MirrorCounts, noCounts } from '../counts.ts'
import type { TappedPacket } from './packet-tap.ts'
import type { Place } from '../place.ts'
import { Share } from '../share.ts'
import { functionOf, isBackground, workNames } from './submission.ts'

const sweepEveryMs = 1_000
/** Most client connections. */
const mostConnections = 10_000

export interface MirrorOptions {
  readonly from: Place
  readonly to: Place
  readonly listen: Pick<Place, 'host' | 'port'>
  /** Functions to copy. All. */
  readonly functions?: ReadonlySet<string>
  /** Share of their jobs, 0 to 100. */
  readonly percent: number
  /** Most foreground copies without a result. */
  readonly mostOutstanding: number
  readonly timeoutMs: number
  readonly maxPayloadBytes: number
  readonly onDifference: (difference: Difference) => void
  /** The other side was lost, or is back if there is no error. */
  readonly onChange: (error?: Error) => void
}

/**
 * Stands between clients and their server, passes every byte on, and submits copies of jobs to
 * another server. Results of copies are compared and counted, then dropped.
 */
export class Mirror {
  readonly counts: MirrorCounts = noCounts()
  readonly #options: MirrorOptions
  readonly #comparisons: Comparisons
  readonly #copies: CopyConnection
  readonly #clients = new Set<ClientConnection>()
  readonly #server: Server
  #sweeper: ReturnType<typeof setInterval> | undefined
  readonly #share: Share
  #isCopying = true

  constructor(options: MirrorOptions) {
    this.#options = options
    this.#share = new Share(options.percent)
    const { counts } = this
    const { mostOutstanding: most, timeoutMs, onDifference, onChange } = options
    this.#comparisons = new Comparisons({ most, timeoutMs, counts, onDifference })
    this.#copies = new CopyConnection({
      ...{ place: options.to, comparisons: this.#comparisons, counts, onChange },
      keptBytes: options.maxPayloadBytes,
      resultNames: workNames,
    })
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket))
    this.#server.maxConnections = mostConnections
  }

  /** Returns the port for clients. Throws a MigrationError if a side cannot be reached. */
  async open(): Promise<number> {
    const { from, to, listen } = this.#options
    await reached(from.name, async () => {
      const probe = connect(from.port, from.host)
      await once(probe, 'connect')
      probe.destroy()
    })
    await reached(to.name, () => this.#copies.open())
    await reached(`--listen ${listen.host}:${listen.port}`, async () => {
      this.#server.listen(listen.port, listen.host)
      await once(this.#server, 'listening')
    })
    this.#sweeper = setInterval(() => this.#comparisons.sweep(Date.now()), sweepEveryMs)
    return (this.#server.address() as AddressInfo).port
  }

  /** Takes no new client and copies no more jobs; true when nobody waits any more. */
  wind(): boolean {
    if (this.#isCopying) this.#server.close()
    this.#isCopying = false
    const isIdle = [...this.#clients].every((client) => client.isIdle)
    return isIdle && this.#comparisons.size === 0 && this.#copies.asked === 0
  }

  close(): void {
    this.wind()
    clearInterval(this.#sweeper)
    this.#comparisons.dropAll()
    for (const client of this.#clients) client.end()
    this.#copies.end()
  }

  #accept(socket: ConstructorParameters<typeof ClientConnection>[0]): void {
    const client = new ClientConnection(socket, {
      place: this.#options.from,
      keptBytes: this.#options.maxPayloadBytes,
      comparisons: this.#comparisons,
      counts: this.counts,
      copy: (packet) => this.#copy(packet),
      onClose: () => this.#clients.delete(client),
    })
    this.#clients.add(client)
  }

  #copy(packet: TappedPacket): Comparison | undefined {
    const fn = functionOf(packet)
    const { functions } = this.#options
    if (!this.#isCopying || functions?.has(fn) === false) return undefined
    this.counts.seen += 1
    if (!this.#share.take()) return undefined
    const isWaited = !isBackground(packet.name)
    const isLate = !this.#copies.isReady || (isWaited && this.#comparisons.isFull)
    if (isLate || packet.isCut) {
      this.counts[packet.isCut ? 'tooLong' : 'skipped'] += 1
      return undefined
    }
    this.counts.copied += 1
    const comparison = isWaited ? this.#comparisons.begin(fn, Date.now()) : undefined
    this.#copies.send(packet, comparison)
    return comparison
  }
}

async function reached(side: string, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    throw new MigrationError('UNREACHABLE', `${side}: ${lineOf(error)}.`, { cause: error })
  }
}
