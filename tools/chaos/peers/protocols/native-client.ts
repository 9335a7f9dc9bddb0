import { GearMonkeyClient } from '@crossgear/gearmonkey-redis'
import type { Cluster, Redis } from 'ioredis'
import type { Answer, ResultListener, Submission, Submitter } from '../submission.ts'

/** Time to wait for a result, seconds. Longer than any scenario. */
const resultWithinSeconds = 600

/** Submits straight to Redis, as GearMonkey programs do. */
export class NativeClient implements Submitter {
  readonly #redis: Redis | Cluster
  readonly #client: GearMonkeyClient
  readonly #results: ResultListener

  constructor(redis: Redis | Cluster, results: ResultListener) {
    this.#redis = redis
    this.#client = new GearMonkeyClient(redis)
    this.#results = results
  }

  ready(): Promise<boolean> {
    return Promise.resolve(true)
  }

  async submit(submission: Submission): Promise<Answer> {
    const { key, lane, priority, foreground, delaySeconds } = submission
    if (foreground) {
      this.#client
        .run(lane, key, { priority, blocking: true, timeoutSeconds: resultWithinSeconds })
        .then(
          () => this.#results.heard(key),
          () => this.#results.waived(key),
        )
      return 'accepted'
    }
    const scheduledFor = Math.floor(Date.now() / 1000) + delaySeconds
    return this.#client.run(lane, key, delaySeconds > 0 ? { scheduledFor } : { priority }).then(
      () => 'accepted',
      () => 'unknown',
    )
  }

  close(): void {
    this.#client.close()
    this.#redis.disconnect()
  }
}
