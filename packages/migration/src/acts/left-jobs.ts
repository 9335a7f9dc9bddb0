import type { Reject } from '../record/record.ts'

/** Jobs of which the note tells the place. */
const maxTold = 10
/** Longest text of each that is kept, characters. */
const maxText = 200

/** A job that a run left at the source. */
export interface LeftJob {
  readonly where: string
  readonly message: string
}

/** The jobs that a run left at the source: their count, and the first ones. */
export interface LeftJobs {
  readonly count: number
  readonly first: readonly LeftJob[]
}

const none: LeftJobs = { count: 0, first: [] }

/** The jobs that a run has left so far, as the progress of its migration keeps them. */
export class LeftNote {
  #count = 0
  readonly #first: LeftJob[] = []

  add({ where, message }: Reject): void {
    this.#count += 1
    if (this.#first.length >= maxTold) return
    this.#first.push({ where: where.slice(0, maxText), message: message.slice(0, maxText) })
  }

  get text(): string {
    return JSON.stringify({ count: this.#count, first: this.#first } satisfies LeftJobs)
  }
}

/** The jobs of a note; none where a former version ran, which noted none. */
export function leftJobsOf(text: string | undefined): LeftJobs {
  return text === undefined ? none : (JSON.parse(text) as LeftJobs)
}
