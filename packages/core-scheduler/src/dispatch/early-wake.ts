import type { Level } from '../model/job.ts'
import type { Claims } from './claims.ts'
import type { Awake, Wakeups } from '../node/wakeups.ts'

interface Parts {
  readonly wakeups: Wakeups
  readonly claims: Claims
}

/** Wakes workers for jobs that leave for the store: their claims go with the same step. */
export class EarlyWake {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Called when jobs of these levels leave for the store to be queued. Returns the workers woken for them. */
  wake(lane: string, levels: readonly Level[], isOpen: boolean): Awake {
    const { wakeups, claims } = this.#parts
    const jobs = levels.length
    const consumers = isOpen && jobs > 0 ? wakeups.wakeConsumers(lane, jobs) : 0
    if (isOpen && jobs > consumers) {
      const queue = wakeups.queueToServe(lane)
      if (queue) {
        claims.makeWay(
          queue,
          levels.reduce((max, level) => (level > max ? level : max)),
        )
        claims.anticipateFetch(queue, jobs - consumers)
      }
    }
    // A worker woken by name has time to ask while the step is on its way.
    const worker = jobs > 0 ? wakeups.nextByName(lane) : undefined
    if (!worker || !claims.anticipate(worker.subscription, jobs)) return { byName: 0, consumers }
    wakeups.wakeOne(worker)
    return { byName: 1, consumers }
  }
}
