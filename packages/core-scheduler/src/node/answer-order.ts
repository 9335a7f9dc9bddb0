const ignore = (): void => undefined

/**
 * Hands out answers in the order of their calls. The answer to a call with claims takes longer to read than that to the
 * next one: a job's result would overtake its data.
 */
export class AnswerOrder {
  #last: Promise<void> = Promise.resolve()

  /** Settles as the call does, and after all earlier ones. */
  async inTurn<Answer>(call: Promise<Answer>): Promise<Answer> {
    const before = this.#last
    const isOver = call.then(ignore, ignore)
    this.#last = before.then(() => isOver)
    await before
    return await call
  }
}
