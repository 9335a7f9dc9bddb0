import { ApiError } from '../api-error.ts'

/** Bounds of one kind of calls. */
export interface CallBounds {
  /** Calls that are worked on at a time: the doors have the rest of the process. */
  readonly atOnce: number
  /** Calls that wait for their turn. */
  readonly waiting: number
  /** A call waits no longer for its turn, milliseconds. */
  readonly waitMs: number
  /** Units of work that a call takes at least. */
  readonly minUnits: number
  /** Units of work that are done in a second, over a longer time. */
  readonly unitsPerSecond: number
  /** Units that may be done at once after a quiet time. */
  readonly burstUnits: number
}

/** Takes the cost of a call as soon as it is known; the least is taken in any case. */
export type OnCost = (units: number) => void

/** Limits how many calls run at a time, and how much work they do in a second, and refuses the others. */
export class CallLimiter {
  readonly #bounds: CallBounds
  readonly #nowMs: () => number
  /** In the order of their coming. */
  readonly #waiting = new Set<() => void>()
  #running = 0
  /** Below zero after a call that took more than there was. */
  #units: number
  #filledAtMs: number

  constructor(bounds: CallBounds, nowMs: () => number) {
    this.#bounds = bounds
    this.#nowMs = nowMs
    this.#units = bounds.burstUnits
    this.#filledAtMs = nowMs()
  }

  /** Throws an ApiError where there is no room for the call. */
  async run<Result>(call: (onCost: OnCost) => Promise<Result>): Promise<Result> {
    this.#demandUnits()
    await this.#turn()
    try {
      // The calls before it may have taken all.
      this.#demandUnits()
      this.#units -= this.#bounds.minUnits
      return await call((units) => {
        this.#units -= Math.max(0, units - this.#bounds.minUnits)
      })
    } finally {
      const [next] = this.#waiting
      if (next) next()
      else this.#running -= 1
    }
  }

  /** A call that waited takes the place of one that has ended. */
  async #turn(): Promise<void> {
    const { atOnce, waiting, waitMs } = this.#bounds
    if (this.#running < atOnce) {
      this.#running += 1
      return
    }
    if (this.#waiting.size >= waiting) throw tooMany('too_many_calls', 1)
    await new Promise<void>((resolve, reject) => {
      const go = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(go)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(go)
        reject(tooMany('too_many_calls', 1))
      }, waitMs)
      this.#waiting.add(go)
    })
  }

  #demandUnits(): void {
    const { unitsPerSecond, burstUnits } = this.#bounds
    const nowMs = this.#nowMs()
    const earned = ((nowMs - this.#filledAtMs) / 1000) * unitsPerSecond
    this.#units = Math.min(burstUnits, this.#units + earned)
    this.#filledAtMs = nowMs
    if (this.#units <= 0) {
      throw tooMany('too_much_work', Math.max(1, Math.ceil(-this.#units / unitsPerSecond)))
    }
  }
}

function tooMany(limit: 'too_many_calls' | 'too_much_work', seconds: number): ApiError {
  const time = seconds === 1 ? 'a second' : `${seconds} seconds`
  const message = `too many calls at once, or too much work for them: wait ${time}`
  return new ApiError('too_many_requests', message, { retryAfterSeconds: seconds, limit })
}
