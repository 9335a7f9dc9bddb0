import type { ServerTarget } from '@crossgear/migration'
import { FaktoryConnection, FaktoryRefusal } from '@crossgear/peers'
import type { MirrorCounts } from '../counts.ts'
import { Reconnection } from '../reconnection.ts'

/** Pushes without an answer. */
const maxAsked = 10_000
const maxAskedBytes = 8 * 1024 * 1024

export interface FaktoryPushesOptions {
  readonly address: ServerTarget['address']
  readonly counts: MirrorCounts
  readonly onChange: (error?: Error) => void
}

/** The one connection on which copies go to a Faktory server. It comes back by itself. */
export class FaktoryPushes {
  readonly #options: FaktoryPushesOptions
  readonly #reconnection: Reconnection
  #connection: FaktoryConnection | undefined
  #asked = 0
  #askedBytes = 0

  constructor(options: FaktoryPushesOptions) {
    this.#options = options
    this.#reconnection = new Reconnection(() => this.open(), options.onChange)
  }

  get isReady(): boolean {
    const isFull = this.#asked >= maxAsked || this.#askedBytes >= maxAskedBytes
    return this.#connection !== undefined && !isFull
  }

  get asked(): number {
    return this.#asked
  }

  async open(): Promise<void> {
    const { address } = this.#options
    this.#connection = await FaktoryConnection.open({ ...address, name: 'crossgear-mirror' })
  }

  /** Pushes a job, JSON text. */
  send(text: string): void {
    const connection = this.#connection
    if (connection) void this.#push(connection, text)
  }

  end(): void {
    this.#reconnection.end()
    const connection = this.#connection
    this.#connection = undefined
    void connection?.end().catch(() => undefined)
  }

  async #push(connection: FaktoryConnection, text: string): Promise<void> {
    const { counts } = this.#options
    this.#asked += 1
    this.#askedBytes += text.length
    try {
      await connection.ask('PUSH', text)
      counts.background += 1
    } catch (error) {
      counts.refused += 1
      if (!(error instanceof FaktoryRefusal)) this.#lost(connection, error)
    } finally {
      this.#asked -= 1
      this.#askedBytes -= text.length
    }
  }

  /** Each push without an answer calls it; the first call counts. */
  #lost(connection: FaktoryConnection, error: unknown): void {
    if (this.#connection !== connection) return
    this.#connection = undefined
    void connection.end().catch(() => undefined)
    this.#reconnection.lost(error instanceof Error ? error : new Error(String(error)))
  }
}
