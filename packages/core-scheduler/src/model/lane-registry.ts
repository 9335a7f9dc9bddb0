import type { JobRef } from './job.ts'
import { functionFault, type LaneNames } from './lanes.ts'

/** Highest id of a job. */
export const maxJobId = Number.MAX_SAFE_INTEGER

/** Most lanes of a store; each costs about 200 bytes in every node. */
export const maxLanes = 65_536

/**
 * A node's copy of the store's lanes: their numbers (part of each name that a job has for clients), and the
 * lanes of each function and Faktory queue.
 */
export class LaneRegistry {
  readonly names: LaneNames
  readonly #numbers = new Map<string, number>()
  readonly #lanes = new Map<number, string>()
  readonly #byFunction = new Map<string, LaneList>()
  readonly #byQueue = new Map<string, LaneList>()
  readonly #onRemoved: (lane: string) => void
  #version = 0

  /** `onRemoved` is called for each lane that leaves. */
  constructor(names: LaneNames, onRemoved: (lane: string) => void = () => undefined) {
    this.names = names
    this.#onRemoved = onRemoved
  }

  /** Grows with every lane added or dropped, so that derived data can be cached. */
  get version(): number {
    return this.#version
  }

  /**
   * Returns true for a new lane. One that was dropped and came again has a higher number than before. A name that
   * no door takes comes from another program, and is no lane of a gateway.
   */
  add(lane: string, number: number): boolean {
    if (functionFault(this.names.parse(lane).fn) !== undefined) return false
    const known = this.#numbers.get(lane)
    if (known !== undefined && known >= number) return false
    if (known !== undefined) this.remove(lane)
    const { fn, queue } = this.names.parse(lane)
    this.#numbers.set(lane, number)
    this.#lanes.set(number, lane)
    append(this.#byFunction, fn, lane)
    append(this.#byQueue, queue, lane)
    this.#version += 1
    return true
  }

  /** With a number: only if the lane has not come again meanwhile. Returns true if it was there. */
  remove(lane: string, expected = 0): boolean {
    const number = this.#numbers.get(lane)
    if (number === undefined || (expected > 0 && number > expected)) return false
    const { fn, queue } = this.names.parse(lane)
    this.#numbers.delete(lane)
    if (this.#lanes.get(number) === lane) this.#lanes.delete(number)
    withdraw(this.#byFunction, fn, lane)
    withdraw(this.#byQueue, queue, lane)
    this.#version += 1
    this.#onRemoved(lane)
    return true
  }

  /** Replaces the home queues; returns the lanes that are of another queue now, with the former one. */
  rehome(homes: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
    const moved = new Map<string, string>()
    for (const lane of this.#numbers.keys()) moved.set(lane, this.names.parse(lane).queue)
    this.names.rehome(homes)
    for (const [lane, former] of moved) {
      const { queue } = this.names.parse(lane)
      if (queue === former) moved.delete(lane)
      else {
        withdraw(this.#byQueue, former, lane)
        append(this.#byQueue, queue, lane)
      }
    }
    this.#version += 1
    return moved
  }

  all(): Iterable<string> {
    return this.#numbers.keys()
  }

  /** Lanes with their numbers. */
  entries(): Iterable<[lane: string, number: number]> {
    return this.#numbers.entries()
  }

  get size(): number {
    return this.#numbers.size
  }

  numberOf(lane: string): number | undefined {
    return this.#numbers.get(lane)
  }

  laneOf(number: number): string | undefined {
    return this.#lanes.get(number)
  }

  /** The job of a lane's number and its own, which somebody names; undefined if no job can have them. */
  refOf(number: number, id: number): JobRef | undefined {
    const lane = this.#lanes.get(number)
    const isId = Number.isSafeInteger(id) && id >= 0
    return lane === undefined || !isId ? undefined : { lane, id }
  }

  ofFunction(fn: string): readonly string[] {
    return this.#byFunction.get(fn)?.all() ?? []
  }

  ofQueue(queue: string): readonly string[] {
    return this.#byQueue.get(queue)?.all() ?? []
  }

  queues(): Iterable<string> {
    return this.#byQueue.keys()
  }
}

function append(lists: Map<string, LaneList>, key: string, lane: string): void {
  let list = lists.get(key)
  if (!list) lists.set(key, (list = new LaneList()))
  list.add(lane)
}

function withdraw(lists: Map<string, LaneList>, key: string, lane: string): void {
  const list = lists.get(key)
  list?.delete(lane)
  if (list?.size === 0) lists.delete(key)
}

/** Lanes in the order in which they came. One of 65,000 leaves at once; the list is rebuilt when it is read next. */
class LaneList {
  readonly #lanes = new Set<string>()
  #list: string[] | undefined = []

  get size(): number {
    return this.#lanes.size
  }

  add(lane: string): void {
    if (this.#lanes.has(lane)) return
    this.#lanes.add(lane)
    this.#list?.push(lane)
  }

  delete(lane: string): void {
    if (this.#lanes.delete(lane)) this.#list = undefined
  }

  all(): readonly string[] {
    this.#list ??= [...this.#lanes]
    return this.#list
  }
}
