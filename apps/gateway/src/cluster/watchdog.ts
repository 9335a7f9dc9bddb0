import type { Logger } from '../ops/log/logger.ts'
import type { GatewayProcess } from './gateway-process.ts'

/** Looks at a process that is silent, one in the time of each sign of life, before it is ended. */
const mostSilentLooks = 6

export interface WatchdogParts {
  readonly processes: () => readonly GatewayProcess[]
  readonly log: Logger
  /** How often a process says that it lives, ms. */
  readonly everyMs: number
}

/**
 * Ends processes that stand still, as if they had died. What counts is how often this process has looked
 * meanwhile, not how much time went by: where the whole machine stood still, none of them is at fault.
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
