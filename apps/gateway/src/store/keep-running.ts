import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { ServerAddress } from '@crossgear/redis-store'
import { oneLine } from '../errors.ts'
import type { Logger } from '../config/log/logger.ts'

/** A store process that this gateway started or attached to. */
export interface RunningStore {
  /** Address for the gateway. */
  readonly address: ServerAddress
  /** Loopback port for native GearMonkey programs. */
  readonly port: number
  /** `Redis 7.0.15` */
  readonly server: string
  /** Settles with the reason when the store ends. */
  readonly ended: Promise<string>
  /** Stops the store, or leaves it to the other gateways that use it. */
  stop(): Promise<void>
}

const shortestDelayMs = 100
const longestDelayMs = 5000
/** After this long a store counts as healthy: the next failure starts with the shortest delay. */
const wellAfterMs = 30_000

/** Restarts a store whenever it ends, at the same address, until stopped. */
export class KeptStore {
  readonly #startAgain: () => Promise<RunningStore>
  readonly #log: Logger
  readonly #stopping = new AbortController()
  readonly #watching: Promise<void>
  #running: RunningStore | undefined
  #stopped: Promise<void> | undefined

  constructor(first: RunningStore, startAgain: () => Promise<RunningStore>, log: Logger) {
    this.#running = first
    this.#startAgain = startAgain
    this.#log = log
    this.#watching = this.#watch(first)
  }

  /** A second call waits for the same stop. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopOnce()
    return this.#stopped
  }

  async #stopOnce(): Promise<void> {
    this.#stopping.abort()
    await this.#watching
    await this.#running?.stop()
  }

  async #watch(first: RunningStore): Promise<void> {
    const { signal } = this.#stopping
    const stopping = once(signal, 'abort')
    let store: RunningStore | undefined = first
    let delayMs = shortestDelayMs
    while (store) {
      const startedAt = performance.now()
      const reason = await Promise.race([store.ended, stopping])
      if (signal.aborted) return
      this.#running = undefined
      if (performance.now() - startedAt >= wellAfterMs) delayMs = shortestDelayMs
      this.#log.error(`The store ended (${String(reason)}); restarting it.`)
      store = await this.#restart(delayMs)
      delayMs = nextDelay(delayMs)
    }
  }

  /** Undefined if stopped first. */
  async #restart(firstDelayMs: number): Promise<RunningStore | undefined> {
    const { signal } = this.#stopping
    for (let delayMs = firstDelayMs; ; delayMs = nextDelay(delayMs)) {
      await delay(delayMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return undefined
      try {
        this.#running = await this.#startAgain()
        this.#log.info(`The store is running again: ${this.#running.server}.`)
        return this.#running
      } catch (error) {
        this.#log.error(`The store did not start; trying again. ${oneLine(error)}`)
      }
    }
  }
}

function nextDelay(delayMs: number): number {
  return Math.min(delayMs * 2, longestDelayMs)
}
