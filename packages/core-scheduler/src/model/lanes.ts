/** The Faktory queue of a function that no route sends elsewhere. */
export const defaultQueue = 'default'

/** Bytes of a function's name that the store takes. Gearman's own clients stop at 511. */
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
 * Which Faktory queue is home to a function, and so how lanes are named: a job in its function's
 * home queue stands in the lane `FN`, a job of another queue in the lane `FN@queue`.
 */
export class LaneNames {
  readonly #homes: ReadonlyMap<string, string>

  /** `homes`: queue by function, for the functions that a route sends elsewhere than `default`. */
  constructor(homes: ReadonlyMap<string, string> = new Map()) {
    this.#homes = homes
  }

  home(fn: string): string {
    return this.#homes.get(fn) ?? defaultQueue
  }

  /**
   * The lane of a function's jobs for a queue. The queue is named even if it is the home queue where
   * the function's own name would be read as that of another function's lane.
   */
  lane(fn: string, queue: string): string {
    const isPlain = queue === this.home(fn) && this.parse(fn).fn === fn
    return isPlain ? fn : `${fn}@${queue}`
  }

  /** The function and queue that a lane stands for. A last `@` counts where a queue name follows. */
  parse(lane: string): LaneName {
    const at = lane.lastIndexOf('@')
    if (at > 0) {
      const queue = lane.slice(at + 1)
      if (isQueueName(queue)) return { fn: lane.slice(0, at), queue }
    }
    return { fn: lane, queue: this.home(lane) }
  }

  /** The one name of a lane that a client may have named in two ways. */
  canonical(name: string): string {
    const { fn, queue } = this.parse(name)
    return this.lane(fn, queue)
  }
}
