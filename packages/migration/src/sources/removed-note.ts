import type { ServerConnection } from '@crossgear/redis-store'
import { tagOf } from '../record/identity.ts'
import type { JobRecord } from '../record/record.ts'

/** Retention of the note, seconds: 30 days. */
const keptSeconds = 30 * 24 * 3600

/** The note of the last removal, in a Redis that jobs are moved from: a list of import ids. */
export class RemovedNote {
  readonly #redis: ServerConnection
  readonly #key: string

  /** `identity`: the source's, since a Redis may have several. */
  constructor(redis: ServerConnection, identity: string) {
    this.#redis = redis
    this.#key = `crossgear:removed:${tagOf(identity).toString('hex')}`
  }

  /** Rewrites the note, in the step that removes the jobs. */
  write(transaction: ReturnType<ServerConnection['multi']>, records: readonly JobRecord[]): void {
    transaction.del(this.#key)
    if (records.length === 0) return
    transaction.rpush(this.#key, ...records.map(({ importId }) => importId))
    transaction.expire(this.#key, keptSeconds)
  }

  read(): Promise<readonly Buffer[]> {
    return this.#redis.lrangeBuffer(this.#key, 0, -1)
  }

  async drop(): Promise<void> {
    await this.#redis.del(this.#key)
  }
}
