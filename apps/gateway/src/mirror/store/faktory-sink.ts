import type { LaneNames } from '@crossgear/core-scheduler'
import {
  importIdOf,
  recordOfStanding,
  type JobRecord,
  type ServerTarget,
} from '@crossgear/migration'
import type { CopySink, StoredCopy } from './copy-sink.ts'
import type { MirrorCounts } from '../counts.ts'

type Carrier = Awaited<ReturnType<ServerTarget['open']>>

const againAfterMs = 1_000
/** Jobs per push, and jobs that may wait for one. */
const jobsAtOnce = 100
const mostAsked = 10_000
const mostWaitingBytes = 8 * 1024 * 1024

export interface FaktorySinkOptions {
  readonly server: ServerTarget
  readonly names: LaneNames
  /** Name of its store: the jids of copies are made from it. */
  readonly source: string
  readonly counts: MirrorCounts
  readonly onChange: (error?: Error) => void
}

/** A Faktory server for copies of a store's jobs. Its producers get no results. */
export class FaktorySink implements CopySink {
  readonly hasResults = false
  readonly #options: FaktorySinkOptions
  #carrier: Carrier | undefined
  #again: ReturnType<typeof setTimeout> | undefined
  #isEnded = false
  #isSending = false
  #waiting: JobRecord[] = []
  #waitingBytes = 0
  #underWay = 0

  constructor(options: FaktorySinkOptions) {
    this.#options = options
  }

  get isReady(): boolean {
    const isFull = this.asked >= mostAsked || this.#waitingBytes >= mostWaitingBytes
    return this.#carrier !== undefined && !isFull
  }

  get asked(): number {
    return this.#waiting.length + this.#underWay
  }

  async open(): Promise<void> {
    this.#carrier = await this.#options.server.open(this.#options.names)
  }

  send({ standing }: StoredCopy): void {
    const { source, names } = this.#options
    const { lane, id } = standing.job
    const record = recordOfStanding(standing, importIdOf(source, lane, String(id)), names)
    this.#waiting.push(record)
    this.#waitingBytes += record.payload.length
    if (!this.#isSending) void this.#sendAll()
  }

  end(): void {
    this.#isEnded = true
    clearTimeout(this.#again)
    void this.#carrier?.close()
    this.#carrier = undefined
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    const { counts } = this.#options
    try {
      while (this.#carrier && this.#waiting.length > 0) {
        const some = this.#waiting.splice(0, jobsAtOnce)
        this.#underWay = some.length
        for (const { payload } of some) this.#waitingBytes -= payload.length
        await this.#carrier.send(some, (_record, refusal) => {
          this.#underWay -= 1
          counts[refusal === undefined ? 'background' : 'refused'] += 1
        })
      }
    } catch (error) {
      this.#lost(error instanceof Error ? error : new Error(String(error)))
    } finally {
      this.#isSending = false
    }
  }

  /** Copies are live: jobs that waited here are not sent later. */
  #lost(error: Error): void {
    this.#options.counts.refused += this.asked
    this.#waiting = []
    this.#waitingBytes = 0
    this.#underWay = 0
    void this.#carrier?.close().catch(() => undefined)
    this.#carrier = undefined
    if (this.#isEnded) return
    this.#options.onChange(error)
    this.#retry()
  }

  #retry(): void {
    this.#again = setTimeout(() => {
      this.open().then(
        () => this.#options.onChange(),
        () => this.#retry(),
      )
    }, againAfterMs)
  }
}
