import type { JobRef, LaneNames } from '@crossgear/core-scheduler'
import { Glob } from '../../doors/faktory/glob.ts'
import { ApiError } from './api-error.ts'
import type { Endpoint, Input } from './endpoint.ts'

/** A request, with what its client may touch. */
export interface HandlerInput<E extends Endpoint> extends Input<E> {
  /** Absent: everything. */
  readonly scope?: Scope
  /** Name of the person who asks. Nobody with a name. */
  readonly who?: string
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

  /** People of the scope see a lane, and act on jobs that are there, if its function or its queue is theirs. */
  hasLane(lane: string): boolean {
    const { fn, queue } = this.#names.parse(lane)
    return this.has(fn) || this.has(queue)
  }

  /**
   * People of the scope give a lane jobs, and change how it is served, if its function and its queue are theirs. A function is enough
   * for its home queue; a function whose name reads as another one's lane needs the right to that, too.
   */
  mayTarget(lane: string): boolean {
    const { fn, queue } = this.#names.parse(lane)
    if (!this.has(fn) || (queue !== this.#names.home(fn) && !this.has(queue))) return false
    return this.#names.parse(fn).fn === fn || this.mayTarget(fn)
  }

  /** The one check of whatever a call is to give jobs to or to change, by the lane that it comes to. */
  demandTarget(lane: string): void {
    if (!this.mayTarget(lane)) throw this.refusal('the function with its queue')
  }

  demandQueue(queue: string): void {
    if (!this.has(queue)) throw this.refusal(`the queue ${queue}`)
  }

  /** A function with all its queues, or one lane that is named. */
  hasFunction(name: string): boolean {
    const isLane = this.#names.parse(name).fn !== name
    return isLane ? this.hasLane(name) : this.has(name)
  }

  demandFunction(name: string): void {
    if (!this.hasFunction(name)) throw this.refusal(`the function ${name}`)
  }

  /** A job that is known by a name of its own: the refusal does not say where it stands. */
  demandJob({ lane }: JobRef): void {
    if (!this.hasLane(lane)) throw this.refusal('the job')
  }

  refusal(what: string): ApiError {
    return new ApiError('not_yours', `${what} is not yours: you have ${this.#words}`)
  }
}
