import type { World } from './world.ts'

/** Looks at which nothing has changed, before the store's clock steps. */
const stillLooks = 2
/** Shorter than a consumer's lease without the longest run under it, milliseconds. */
const stepMs = 50_000
/** Together they are shorter than an expiry that no job is to reach. */
const maxSteps = 3
/** An expiry or a run time later than this is none that a world waits for, milliseconds. */
const farMs = 60_000

/**
 * Shortens the wait for leases and retries at the end of a world: most of its events would be those of idle gateways. The
 * store's clock steps ahead, once all that moves by itself has come to rest.
 */
export class LongWait {
  readonly #world: World
  #last = ''
  #still = 0
  #steps = 0

  constructor(world: World) {
    this.#world = world
  }

  /** Takes the unfinished jobs of now. */
  look(left: readonly string[]): void {
    const jobs = left.join()
    this.#still = left.length > 0 && jobs === this.#last ? this.#still + 1 : 0
    this.#last = jobs
    if (this.#still < stillLooks || this.#steps === maxSteps || !this.#isAtRest()) return
    this.#still = 0
    this.#steps += 1
    this.#world.say('nothing happens until leases or retries end')
    this.#world.stepClock(stepMs)
  }

  /** No worker has a job, and no time that a client gave is to come. */
  #isAtRest(): boolean {
    const { history, timeline } = this.#world
    if (history.runs.some(({ end }) => end === undefined)) return false
    const isOver = (ms = 0): boolean => ms < timeline.nowMs || ms > farMs
    return [...history.jobs.values()].every(
      ({ dueAtMs, expiresAtMs }) => isOver(dueAtMs) && isOver(expiresAtMs),
    )
  }
}
