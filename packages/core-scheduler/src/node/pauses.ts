import type { ClaimBy } from '../model/job.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { LaneGroup } from '../model/subscription.ts'

const none: ReadonlySet<string> = new Set()

/** The part of a request that may be served. */
export interface UnpausedGroups {
  readonly groups: readonly LaneGroup[]
  /** Paused lanes of the groups' queues. */
  readonly paused: ReadonlySet<string>
}

/**
 * A node's copy of what operators have paused: queues for consumers, functions for all workers behind
 * gateways.
 */
export class Pauses {
  readonly #registry: LaneRegistry
  #queues: ReadonlySet<string> = none
  #functions: ReadonlySet<string> = none
  /** Lanes of paused functions, by queue, as of this version of the registry. */
  #byQueue: ReadonlyMap<string, ReadonlySet<string>> = new Map()
  #version = -1

  constructor(registry: LaneRegistry) {
    this.#registry = registry
  }

  get queues(): ReadonlySet<string> {
    return this.#queues
  }

  /** Functions, and single lanes of some. */
  get functions(): ReadonlySet<string> {
    return this.#functions
  }

  /** Returns the functions that are no longer paused. */
  set(queues: ReadonlySet<string>, functions: ReadonlySet<string>): readonly string[] {
    const resumed = [...this.#functions].filter((name) => !functions.has(name))
    this.#queues = queues
    this.#functions = functions
    this.#version = -1
    return resumed
  }

  /** True if no worker behind a gateway gets jobs of the lane. */
  holdsBack(lane: string): boolean {
    if (this.#functions.size === 0) return false
    return this.#functions.has(lane) || this.#functions.has(this.#registry.names.parse(lane).fn)
  }

  /** The groups of a request without the lanes that are paused for such a worker. */
  unpaused(by: ClaimBy, groups: readonly LaneGroup[]): UnpausedGroups {
    if (by === 'consumer') return this.#forConsumer(groups)
    if (this.#functions.size === 0) return { groups, paused: none }
    const left = groups.flatMap((group) => {
      const lanes = group.lanes.filter((lane) => !this.holdsBack(lane))
      if (lanes.length === group.lanes.length) return [group]
      return lanes.length > 0 ? [{ ...group, lanes }] : []
    })
    return { groups: left, paused: none }
  }

  /** A queue may have many lanes, so they are not walked. */
  #forConsumer(groups: readonly LaneGroup[]): UnpausedGroups {
    if (this.#queues.size + this.#functions.size === 0) return { groups, paused: none }
    const { names } = this.#registry
    const left: LaneGroup[] = []
    const paused: ReadonlySet<string>[] = []
    for (const group of groups) {
      const [first] = group.lanes
      const queue = first === undefined ? group.queue : names.parse(first).queue
      if (queue !== undefined && this.#queues.has(queue)) continue
      left.push(group)
      const lanes = queue === undefined ? none : this.#pausedOf(queue)
      if (lanes.size > 0) paused.push(lanes)
    }
    const [only = none] = paused
    return {
      groups: left,
      paused: paused.length > 1 ? new Set(paused.flatMap((s) => [...s])) : only,
    }
  }

  #pausedOf(queue: string): ReadonlySet<string> {
    const { names, version } = this.#registry
    if (this.#version !== version) {
      const byQueue = new Map<string, Set<string>>()
      for (const name of this.#functions) {
        for (const lane of [name, ...this.#registry.ofFunction(name)]) {
          const of = names.parse(lane).queue
          byQueue.set(of, (byQueue.get(of) ?? new Set()).add(lane))
        }
      }
      this.#byQueue = byQueue
      this.#version = version
    }
    return this.#byQueue.get(queue) ?? none
  }
}
