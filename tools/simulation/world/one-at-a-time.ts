import { promisesSettled } from './timeline.ts'

/** Runs real calls one after another, in the order in which they were asked for. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve()

  run<Answer>(call: () => Promise<Answer> | Answer): Promise<Answer> {
    const answer = this.#last.then(call)
    this.#last = answer.catch(() => undefined)
    return answer
  }

  /** Resolves once no call is under way, and none was begun by the end of another. */
  async settled(): Promise<void> {
    await promisesSettled()
    for (let last: unknown; last !== this.#last;) {
      last = this.#last
      await this.#last
      await promisesSettled()
    }
  }
}
