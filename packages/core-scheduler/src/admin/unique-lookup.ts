import type { JobRef } from '../model/job.ts'

/** Unique ids that one walk looks for. */
const uniquesPerWalk = 64

type Walk = (uniques: readonly Uint8Array[]) => Promise<readonly (readonly JobRef[])[]>

interface Question {
  readonly unique: Uint8Array
  readonly resolve: (refs: readonly JobRef[]) => void
  readonly reject: (reason: unknown) => void
}

/**
 * Looks for unique ids over all functions: a walk through their lanes, one at a time. Requests that
 * come meanwhile share the next walk.
 */
export class UniqueLookup {
  readonly #walk: Walk
  readonly #asked: Question[] = []
  #isWalking = false

  constructor(walk: Walk) {
    this.#walk = walk
  }

  find(unique: Uint8Array): Promise<readonly JobRef[]> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ unique, resolve, reject })
      if (!this.#isWalking) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isWalking = true
    while (this.#asked.length > 0) {
      const questions = this.#asked.splice(0, uniquesPerWalk)
      try {
        const found = await this.#walk(questions.map(({ unique }) => unique))
        for (const [at, { resolve }] of questions.entries()) resolve(found[at] ?? [])
      } catch (error) {
        for (const { reject } of questions) reject(error)
      }
    }
    this.#isWalking = false
  }
}
