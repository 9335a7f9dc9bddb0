import { FifoMap } from '@crossgear/core-scheduler'

/** Runs steps in order, up to a number at a time: a library for it would be no shorter to use. */
export class Limiter {
  readonly #max: number
  readonly #waiting = new FifoMap<() => void, true>()
  #running = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Begins the step now if there is room, else after those before it. */
  async run<Result>(step: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#max) {
      await new Promise<void>((resolve) => this.#waiting.set(resolve, true))
    } else this.#running += 1
    try {
      return await step()
    } finally {
      const next = this.#waiting.oldest()?.key
      if (next) {
        this.#waiting.delete(next)
        next()
      } else this.#running -= 1
    }
  }
}
