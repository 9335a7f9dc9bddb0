import type { Reload, ReloadReport } from '../web/api/schemas/session.ts'
import type { Config } from '../config/load-config.ts'
import { oneLine, StartError } from '../errors.ts'
import type { Logger } from '../config/log/logger.ts'
import { changesBetween } from './changes.ts'
import { readPortTls, type Settings } from './doors.ts'
import { checkOpenNetwork } from './open-network.ts'

/** A configuration that was read again from where it came from. */
export interface Reread {
  readonly config: Config
  /** Names of other changes that need a restart. None. */
  readonly fixed?: readonly string[]
}

export interface ReloaderParts {
  readonly settings: Settings
  /** Throws a StartError. */
  readonly reread: () => Reread
  readonly apply: (settings: Settings) => Promise<void>
  /** Ports by flag whose sockets a service manager opened. */
  readonly handedOver: Pick<ReadonlySet<string>, 'has'>
  readonly log: Logger
}

/** Reads, checks and applies settings, one reload after the other. */
export class Reloader {
  readonly #parts: ReloaderParts
  #settings: Settings
  #turn: Promise<unknown> = Promise.resolve()

  constructor(parts: ReloaderParts) {
    this.#parts = parts
    this.#settings = parts.settings
  }

  readonly reload: Reload = (by) => {
    const report = this.#turn.then(() => this.#reload(by))
    this.#turn = report.catch(() => undefined)
    return report
  }

  async #reload(by: string): Promise<ReloadReport> {
    const { reread, apply, handedOver, log } = this.#parts
    try {
      const { config, fixed: others = [] } = reread()
      const next = { config, tls: readPortTls(config) }
      const { settings, changed, fixed } = changesBetween(this.#settings, next)
      await checkOpenNetwork(settings.config, handedOver)
      this.#settings = settings
      await apply(settings)
      const restartNeeded = [...fixed, ...others]
      log.info(
        `Reload (${by}): ${changed.length > 0 ? `${changed.join(', ')} changed` : 'nothing changed'}.`,
      )
      if (restartNeeded.length > 0) {
        log.warn(`Reload (${by}): a restart is needed for ${restartNeeded.join(', ')}.`)
      }
      return { changed: [...changed], restart_needed: restartNeeded }
    } catch (error) {
      const result = error instanceof StartError ? 'nothing is changed' : 'it failed half way'
      log.error(`Reload (${by}): ${result}: ${oneLine(error)}`)
      throw error
    }
  }
}
