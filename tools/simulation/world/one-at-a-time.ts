import { promisesSettled } from './timeline.ts'

/** Runs real calls one after another, in the order in which they were asked for. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve()
  #underWay = 0

  run<Answer>(call: () => Promise<Answer> | Answer): Promise<Answer> {
    this.#underWay += 1
    const answer = this.#last.then(call).finally(() => (this.#underWay -= 1))
    this.#last = answer.catch(() => undefined)
    return answer
  }

  /** Resolves once no call is under way, and none was begun by the end of another. */
  async settled(): Promise<void> {
    await promisesSettled()
    while (this.#underWay > 0) {
      await this.#last
      await promisesSettled()
    }
  }
}
