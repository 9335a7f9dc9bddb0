import type { Durability } from '@crossgear/redis-store'
import type { Logger } from '../config/log/logger.ts'

/** Tells while `--durability auto` has no replica to wait for. */
export class ReplicaNews {
  readonly #isOn: boolean
  readonly #log: Pick<Logger, 'info' | 'warn'>
  #isMissing = false

  constructor(durability: Durability | undefined, log: Pick<Logger, 'info' | 'warn'>) {
    this.#isOn = durability?.level === 'auto'
    this.#log = log
  }

  /** Undefined where all is well. */
  get note(): string | undefined {
    return this.#isMissing
      ? 'no replica of the store keeps up: jobs are acknowledged when the master alone has them'
      : undefined
  }

  /** How many replicas keep up now. */
  heard(count: number): void {
    const wasMissing = this.#isMissing
    this.#isMissing = this.#isOn && count === 0
    if (this.#isMissing === wasMissing) return
    if (this.note !== undefined)
      this.#log.warn(`Until a replica keeps up again, a failover loses jobs; ${this.note}.`)
    else
      this.#log.info('A replica of the store keeps up again: it has each job that is acknowledged.')
  }
}
