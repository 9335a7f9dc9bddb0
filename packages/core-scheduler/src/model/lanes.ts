/** Home queue of a function without a route. */
export const defaultQueue = 'default'

/** Longest function name, bytes. Gearman's own clients stop at 511. */
export const maxFunctionBytes = 512

/** A function and the Faktory queue of its jobs. */
export interface LaneName {
  readonly fn: string
  readonly queue: string
}

const controls = /[\0-\x1f\x7f]/

/** Why a name is no function's. */
export type FunctionFault = 'empty' | 'too_long' | 'controls' | 'not_utf8'

/** The rule for names of functions, at every door: 1 to 512 bytes of UTF-8 without control characters. */
export function functionFault(name: string): FunctionFault | undefined {
  if (name === '') return 'empty'
  if (controls.test(name)) return 'controls'
  if (!name.isWellFormed()) return 'not_utf8'
  // A UTF-16 unit takes at most 3 bytes.
  if (name.length * 3 <= maxFunctionBytes) return undefined
  return Buffer.byteLength(name) > maxFunctionBytes ? 'too_long' : undefined
}

const faultWords: Readonly<Record<FunctionFault | 'queue', string>> = {
  empty: 'a function has no name',
  too_long: `the name of a function has more than ${maxFunctionBytes} bytes`,
  controls: 'the name of a function has control characters',
  not_utf8: 'the name of a function is not UTF-8',
  queue: 'the name of a queue has other characters than a-z, A-Z, 0-9, ., _ and -',
}

/** A name of which no lane can be made. */
export class LaneNameError extends Error {
  override readonly name = 'LaneNameError'
  readonly fault: FunctionFault | 'queue'

  constructor(fault: FunctionFault | 'queue') {
    super(faultWords[fault])
    this.fault = fault
  }
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
   * name alone would read as another function's lane. Every lane of a gateway is made here.
   * @throws LaneNameError
   */
  lane(fn: string, queue: string): string {
    const fault = functionFault(fn) ?? (isQueueName(queue) ? undefined : 'queue')
    if (fault !== undefined) throw new LaneNameError(fault)
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

  /**
   * The canonical name of a lane that may be written in two ways.
   * @throws LaneNameError
   */
  canonical(name: string): string {
    const { fn, queue } = this.parse(name)
    return this.lane(fn, queue)
  }
}
