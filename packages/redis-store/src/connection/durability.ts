import { StoreError } from '@crossgear/core-scheduler'
import { storeErrorOf } from './errors.ts'

/** Meaning of an acceptance: the server has it, its disk has it, or this many replicas have it. */
export type Durability =
  | { readonly level: 'store' }
  | { readonly level: 'fsync' }
  | { readonly level: 'replicas'; readonly replicas: number }

/**
 * Time for the disk or the replicas, milliseconds. With `everysec` the disk takes up to a second.
 */
export const confirmWithinMs = { fsync: 2_000, replicas: 1_000 } as const

/** A command that asks a server if the writes of a connection are durable. */
interface Question {
  readonly words: readonly [string, ...(string | number)[]]
  /** Names what an answer lacks; undefined: nothing. */
  readonly lacks: (answer: unknown) => string | undefined
}

/** The connection with the writes: the question is about it. */
interface Asked {
  call(command: string, ...words: (string | number)[]): Promise<unknown>
}

interface Waiting {
  readonly resolve: () => void
  readonly reject: (error: StoreError) => void
}

/**
 * Asks if writes are durable: once for all answers of a turn, one question at a time, since it blocks the connection. It is
 * sent after the answers: a script that the server had lost is sent again, and would otherwise come after the question.
 */
export class Confirmations {
  readonly #connection: Asked
  readonly #question: Question
  #waiting: Waiting[] = []
  #isAsking = false

  constructor(connection: Asked, question: Question) {
    this.#connection = connection
    this.#question = question
  }

  /** Settles when everything the server has answered so far is durable. */
  confirm(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      if (this.#isAsking) return
      this.#isAsking = true
      process.nextTick(() => void this.#askOn())
    })
  }

  async #askOn(): Promise<void> {
    while (this.#waiting.length > 0) {
      const asking = this.#waiting
      this.#waiting = []
      const failure = await this.#ask()
      // Without the connection nobody knows any more what was written on it.
      if (failure && failure.code !== 'UNCONFIRMED') asking.push(...this.#waiting.splice(0))
      for (const { resolve, reject } of asking) {
        if (failure) reject(failure)
        else resolve()
      }
    }
    this.#isAsking = false
  }

  async #ask(): Promise<StoreError | undefined> {
    const [command, ...words] = this.#question.words
    try {
      const answer = await this.#connection.call(command, ...words)
      const lacking = this.#question.lacks(answer)
      return lacking === undefined ? undefined : new StoreError('UNCONFIRMED', lacking)
    } catch (error) {
      // For instance from a master that has become a replica.
      if (error instanceof Error && error.name === 'ReplyError') {
        return new StoreError('UNCONFIRMED', error.message, { cause: error })
      }
      return storeErrorOf(error)
    }
  }
}

/** The question for a server; undefined if its answer to a script says enough. */
export function questionOf(durability: Durability): Question | undefined {
  switch (durability.level) {
    case 'store':
      return undefined
    case 'fsync':
      return {
        words: ['WAITAOF', 1, 0, confirmWithinMs.fsync],
        lacks: (answer) =>
          Number((answer as unknown[])[0]) >= 1
            ? undefined
            : `not on disk within ${confirmWithinMs.fsync} ms`,
      }
    case 'replicas': {
      const { replicas } = durability
      return {
        words: ['WAIT', replicas, confirmWithinMs.replicas],
        lacks: (answer) =>
          Number(answer) >= replicas
            ? undefined
            : `${Number(answer)} of ${replicas} replicas within ${confirmWithinMs.replicas} ms`,
      }
    }
  }
}
