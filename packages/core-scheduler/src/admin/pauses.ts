import type { ClaimBy } from '../model/job.ts'
import type { LaneNames } from '../model/lanes.ts'
import type { LaneGroup } from '../store/claim-ports.ts'

const noQueues: ReadonlySet<string> = new Set()

/** The part of a request that may be served, and the lanes that it would meet and must not take from. */
export interface UnpausedGroups {
  readonly groups: readonly LaneGroup[]
  readonly paused: readonly string[]
}

/** A node's copy of what operators have paused: queues for consumers, functions for all behind gateways. */
export class Pauses {
  readonly #names: LaneNames
  #queues: ReadonlySet<string> = new Set()
  #functions: ReadonlySet<string> = new Set()

  constructor(names: LaneNames) {
    this.#names = names
  }

  get queues(): ReadonlySet<string> {
    return this.#queues
  }

  /** Functions, and single lanes of some. */
  get functions(): ReadonlySet<string> {
    return this.#functions
  }

  /** Returns the functions that are paused no more. */
  set(queues: ReadonlySet<string>, functions: ReadonlySet<string>): readonly string[] {
    const resumed = [...this.#functions].filter((name) => !functions.has(name))
    this.#queues = queues
    this.#functions = functions
    return resumed
  }

  /** True if no worker behind a gateway gets jobs of the lane. */
  holdsBack(lane: string): boolean {
    if (this.#functions.size === 0) return false
    return this.#functions.has(lane) || this.#functions.has(this.#names.parse(lane).fn)
  }

  /** The groups of a request without what is paused for such a worker. */
  unpaused(by: ClaimBy, groups: readonly LaneGroup[]): UnpausedGroups {
    const queues = by === 'consumer' ? this.#queues : noQueues
    if (queues.size + this.#functions.size === 0) return { groups, paused: [] }
    const paused: string[] = []
    const left = groups.flatMap((group) => {
      const [first] = group.lanes
      if (first !== undefined && queues.has(this.#names.parse(first).queue)) return []
      const heldBack = group.lanes.filter((lane) => this.holdsBack(lane))
      if (heldBack.length === 0) return [group]
      paused.push(...heldBack)
      const lanes = group.lanes.filter((lane) => !this.holdsBack(lane))
      return lanes.length > 0 ? [{ ...group, lanes }] : []
    })
    return { groups: left, paused }
  }
}
