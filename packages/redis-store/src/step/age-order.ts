/** Most ids of removed jobs in the order before it is rebuilt. */
const maxGone = 1_024

/**
 * Jobs by rising id; finds the oldest one at once. A plain Map steps over all entries deleted
 * before it: 390 us for each of 110,000 jobs, instead of 1.
 */
export class AgeOrder<Job> {
  readonly #byId = new Map<number, Job>()
  /** Ids from the oldest on; some may be gone. */
  #order: number[] = []
  #first = 0
  #newest = 0

  get size(): number {
    return this.#byId.size
  }

  get(id: number): Job | undefined {
    return this.#byId.get(id)
  }

  /** Adds the youngest job. After a flush ids are given again. */
  add(id: number, job: Job): void {
    const isAgain = id <= this.#newest
    this.#newest = id
    if (isAgain) this.#byId.delete(id)
    this.#byId.set(id, job)
    this.#order.push(id)
    if (!isAgain && this.#order.length <= 2 * this.#byId.size + maxGone) return
    this.#order = [...this.#byId.keys()]
    this.#first = 0
  }

  delete(id: number): boolean {
    return this.#byId.delete(id)
  }

  /** The oldest job and its id. */
  oldest(): readonly [id: number, job: Job] | undefined {
    for (; this.#first < this.#order.length; this.#first += 1) {
      const id = this.#order[this.#first] ?? 0
      const job = this.#byId.get(id)
      if (job !== undefined) return [id, job]
    }
    return undefined
  }
}
