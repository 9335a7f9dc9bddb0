/** Home queue of a function without a route. */
export const defaultQueue = 'default'

/** Longest function name, bytes. Gearman's own clients stop at 511. */
export const maxFunctionBytes = 512

/** A function and the Faktory queue of its jobs. */
export interface LaneName {
  readonly fn: string
  readonly queue: string
}

const queuePattern = /^[a-zA-Z0-9._-]+$/

/** True for a name that Faktory allows for a queue. */
export function isQueueName(name: string): boolean {
  return queuePattern.test(name)
}

/**
 * Names lanes by the home queues of functions: a job in the home queue has the lane `FN`, a job of
 * another queue `FN@queue`.
 */
export class LaneNames {
  #homes: ReadonlyMap<string, string>

  /** `homes`: queue by function, for functions with a route. */
  constructor(homes: ReadonlyMap<string, string> = new Map()) {
    this.#homes = homes
  }

  /** Replaces the home queues. Lanes keep their names; some are of another queue from now on. */
  rehome(homes: ReadonlyMap<string, string>): void {
    this.#homes = homes
  }

  home(fn: string): string {
    return this.#homes.get(fn) ?? defaultQueue
  }

  /**
   * The lane of a function's jobs for a queue. The home queue is named too where the function's
   * name alone would read as another function's lane.
   */
  lane(fn: string, queue: string): string {
    const isPlain = queue === this.home(fn) && this.parse(fn).fn === fn
    return isPlain ? fn : `${fn}@${queue}`
  }

  /** The function and queue of a lane. The last `@` counts if a queue name follows. */
  parse(lane: string): LaneName {
    const at = lane.lastIndexOf('@')
    if (at > 0) {
      const queue = lane.slice(at + 1)
      if (isQueueName(queue)) return { fn: lane.slice(0, at), queue }
    }
    return { fn: lane, queue: this.home(lane) }
  }

  /** The canonical name of a lane that may be written in two ways. */
  canonical(name: string): string {
    const { fn, queue } = this.parse(name)
    return this.lane(fn, queue)
  }
}
