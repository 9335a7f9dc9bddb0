import { ApiError } from './api-error.ts'

export const callBounds = {
  /** Calls that are worked on at a time: the doors have the rest of the process. */
  atOnce: 4,
  /** Calls that wait for their turn. */
  waiting: 64,
  /** Calls that begin in a second, over a longer time. */
  perSecond: 100,
  /** Calls that may begin at once after a quiet time. */
  burst: 200,
} as const

/** Limits how many calls run at a time and begin in a second, and refuses the others. */
export class CallLimiter {
  readonly #nowMs: () => number
  readonly #waiting: (() => void)[] = []
  #running = 0
  #tokens: number = callBounds.burst
  #filledAtMs: number

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
    this.#filledAtMs = nowMs()
  }

  /** Throws an ApiError where there is no room for the call. */
  async run<Result>(call: () => Promise<Result>): Promise<Result> {
    this.#spend()
    if (this.#running >= callBounds.atOnce) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#running += 1
    try {
      return await call()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running -= 1
    }
  }

  #spend(): void {
    const nowMs = this.#nowMs()
    const earned = ((nowMs - this.#filledAtMs) / 1000) * callBounds.perSecond
    this.#tokens = Math.min(callBounds.burst, this.#tokens + earned)
    this.#filledAtMs = nowMs
    if (this.#tokens < 1 || this.#waiting.length >= callBounds.waiting) {
      throw new ApiError('too_many_requests', 'too many calls at once: wait a second')
    }
    this.#tokens -= 1
  }
}
