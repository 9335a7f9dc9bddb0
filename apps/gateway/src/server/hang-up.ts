import { isatty } from 'node:tty'
import type { Reload } from '../web/api/schemas/session.ts'

const stdout = 1

/** SIGHUP reads the settings again. Where it says that the terminal is gone, the gateway ends. */
export class HangUps {
  readonly #end: (reason: string) => void
  readonly #hadTerminal = isatty(stdout)
  #reload: Reload | undefined
  #cameEarly = false

  /** `end`: called when the terminal is gone. */
  constructor(end: (reason: string) => void) {
    this.#end = end
    process.on('SIGHUP', this.#onSignal)
  }

  /** The gateway runs. A signal that came before counts now. */
  reloadWith(reload: Reload): void {
    this.#reload = reload
    if (this.#cameEarly) this.#onSignal()
  }

  stop(): void {
    process.off('SIGHUP', this.#onSignal)
  }

  readonly #onSignal = (): void => {
    if (this.#hadTerminal && !isatty(stdout)) this.#end('SIGHUP')
    else if (!this.#reload) this.#cameEarly = true
    // The log has the error.
    else this.#reload('SIGHUP').catch(() => undefined)
  }
}
