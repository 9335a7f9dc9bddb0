/** Begins a bounded number of works in each turn of the event loop, in their order. */
export class TurnQueue {
  readonly #perTurn: number
  #waiting: (() => void)[] = []
  #left: number
  #isCounting = false

  constructor(perTurn: number) {
    this.#perTurn = perTurn
    this.#left = perTurn
  }

  run(work: () => void): void {
    if (!this.#isCounting) {
      this.#isCounting = true
      setImmediate(() => this.#nextTurn())
    }
    if (this.#left > 0) {
      this.#left -= 1
      work()
    } else this.#waiting.push(work)
  }

  #nextTurn(): void {
    const due = this.#waiting.slice(0, this.#perTurn)
    this.#waiting = this.#waiting.slice(this.#perTurn)
    this.#left = this.#perTurn - due.length
    this.#isCounting = due.length > 0
    if (this.#isCounting) setImmediate(() => this.#nextTurn())
    for (const work of due) work()
  }
}
