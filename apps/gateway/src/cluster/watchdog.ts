import type { Logger } from '../ops/log/logger.ts'
import type { GatewayProcess } from './gateway-process.ts'

/** Looks without a heartbeat, one per interval, before a process is ended. */
const mostSilentLooks = 6

export interface WatchdogParts {
  readonly processes: () => readonly GatewayProcess[]
  readonly log: Logger
  /** Interval of a process's heartbeats, ms. */
  readonly everyMs: number
}

/**
 * Ends frozen processes. It counts its own looks, not elapsed time: if the whole machine stood
 * still, no process is at fault.
 */
export class Watchdog {
  readonly #parts: WatchdogParts
  readonly #timer: NodeJS.Timeout

  constructor(parts: WatchdogParts) {
    this.#parts = parts
    this.#timer = setInterval(() => this.#look(), parts.everyMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const { processes, log, everyMs } = this.#parts
    for (const process of processes()) {
      if (process.look() !== mostSilentLooks) continue
      const seconds = (mostSilentLooks * everyMs) / 1000
      log.error(`Process ${process.number} sent no heartbeat for ${seconds} s: killing it.`)
      process.kill()
    }
  }
}
