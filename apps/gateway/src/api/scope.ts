import type { LaneNames } from '@crossgear/core-scheduler'
import { Glob } from '../faktory/glob.ts'
import { ApiError } from './api-error.ts'
import type { Endpoint, Input } from './endpoint.ts'

/** A request, with what its client may touch. */
export interface HandlerInput<E extends Endpoint> extends Input<E> {
  /** Absent: everything. */
  readonly scope?: Scope
}

/** The functions and queues of a person: those with a name that one of their globs takes. */
export class Scope {
  readonly #globs: readonly Glob[]
  readonly #words: string
  readonly #names: LaneNames

  /** `names`: those of the registry. */
  constructor(globs: readonly string[], names: LaneNames) {
    this.#globs = globs.map((glob) => new Glob(glob))
    this.#words = globs.join(', ')
    this.#names = names
  }

  /** A name of a function or a queue. */
  has(name: string): boolean {
    return this.#globs.some((glob) => glob.match(name).run(Infinity))
  }

  /** A lane is theirs if its function or its queue is. */
  hasLane(lane: string): boolean {
    const { fn, queue } = this.#names.parse(lane)
    return this.has(fn) || this.has(queue)
  }

  demandQueue(queue: string): void {
    if (!this.has(queue)) throw this.refusal(`the queue ${queue}`)
  }

  /** A function with all its queues, or one lane that is named. */
  demandFunction(name: string): void {
    const isLane = this.#names.parse(name).fn !== name
    if (isLane ? !this.hasLane(name) : !this.has(name)) throw this.refusal(`the function ${name}`)
  }

  demandLane(lane: string): void {
    if (this.hasLane(lane)) return
    const { fn, queue } = this.#names.parse(lane)
    throw this.refusal(`the function ${fn} in the queue ${queue}`)
  }

  refusal(what: string): ApiError {
    return new ApiError('not_yours', `${what} is not yours: you have ${this.#words}`)
  }
}
