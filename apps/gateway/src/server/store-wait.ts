import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../config/load-config.ts'
import { StoreAway } from '../errors.ts'
import type { Logger } from '../config/log/logger.ts'

/** Pauses between two tries, milliseconds: as between those of a running gateway. */
const firstPauseMs = 100
const longestPauseMs = 1_000
/** Time until the log says again that the store is away, milliseconds; it doubles. */
const firstRemarkMs = 1_000
const longestRemarkMs = 60_000

interface Parts {
  readonly config: Pick<Config, 'redisUrl' | 'storeWait'>
  readonly log: Logger
  /** Aborted when the gateway is asked to stop. */
  readonly signal: AbortSignal
  /** Called when the waiting begins. */
  readonly begin: () => Promise<void>
}

/** Waits for a given store that is away when the gateway starts, as a running gateway does. */
export class StoreWait {
  readonly #parts: Parts
  readonly #untilMs: number
  #reason = ''
  #hasBegun = false
  #remarkAtMs = 0
  #remarkMs = firstRemarkMs
  readonly #aborted: Promise<never>

  constructor(parts: Parts) {
    this.#parts = parts
    const { storeWait = Infinity } = parts.config
    this.#untilMs = performance.now() + storeWait * 1000
    this.#aborted = new Promise((_, reject) => {
      const { signal } = parts
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    })
    this.#aborted.catch(() => undefined)
  }

  /** Why the store is not there. */
  get reason(): string {
    return this.#reason
  }

  /**
   * Tries until the store is there; returns what the attempt finds.
   *
   * @throws StartError for what waiting does not mend, or when the time is over.
   */
  async for<Found>(attempt: () => Promise<Found>): Promise<Found> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        const found = attempt()
        return await (this.#hasBegun ? Promise.race([found, this.#aborted]) : found)
      } catch (error) {
        await this.#rest(error, pauseMs)
      }
    }
  }

  async #rest(error: unknown, pauseMs: number): Promise<void> {
    const { config, signal } = this.#parts
    const nowMs = performance.now()
    const isOver = nowMs >= this.#untilMs || signal.aborted
    if (!(error instanceof StoreAway) || config.redisUrl === undefined || isOver) throw error
    this.#reason = error.message
    this.#remark(nowMs)
    if (!this.#hasBegun) await this.#parts.begin()
    this.#hasBegun = true
    await delay(Math.min(pauseMs, this.#untilMs - nowMs), undefined, { signal })
  }

  #remark(nowMs: number): void {
    if (nowMs < this.#remarkAtMs) return
    this.#parts.log.warn(`${this.#reason} Waiting for it: the ports of the doors open after that.`)
    this.#remarkAtMs = nowMs + this.#remarkMs
    this.#remarkMs = Math.min(2 * this.#remarkMs, longestRemarkMs)
  }
}
