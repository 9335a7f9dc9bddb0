import type { LaneNames } from './lanes.ts'

/** Most lanes of a store; each costs about 200 bytes in every node. */
export const maxLanes = 65_536

/**
 * A node's copy of the store's lanes: their numbers (the middle part of a Gearman handle), and the
 * lanes of each function and Faktory queue.
 */
export class LaneRegistry {
  readonly names: LaneNames
  readonly #numbers = new Map<string, number>()
  readonly #lanes = new Map<number, string>()
  readonly #byFunction = new Map<string, string[]>()
  readonly #byQueue = new Map<string, string[]>()
  #version = 0

  constructor(names: LaneNames) {
    this.names = names
  }

  /** Grows with every lane added or dropped, so that derived data can be cached. */
  get version(): number {
    return this.#version
  }

  add(lane: string, number: number): boolean {
    if (this.#numbers.has(lane)) return false
    const { fn, queue } = this.names.parse(lane)
    this.#numbers.set(lane, number)
    this.#lanes.set(number, lane)
    append(this.#byFunction, fn, lane)
    append(this.#byQueue, queue, lane)
    this.#version += 1
    return true
  }

  remove(lane: string): void {
    const number = this.#numbers.get(lane)
    if (number === undefined) return
    const { fn, queue } = this.names.parse(lane)
    this.#numbers.delete(lane)
    if (this.#lanes.get(number) === lane) this.#lanes.delete(number)
    withdraw(this.#byFunction, fn, lane)
    withdraw(this.#byQueue, queue, lane)
    this.#version += 1
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

  get size(): number {
    return this.#numbers.size
  }

  numberOf(lane: string): number | undefined {
    return this.#numbers.get(lane)
  }

  laneOf(number: number): string | undefined {
    return this.#lanes.get(number)
  }

  ofFunction(fn: string): readonly string[] {
    return this.#byFunction.get(fn) ?? []
  }

  ofQueue(queue: string): readonly string[] {
    return this.#byQueue.get(queue) ?? []
  }

  queues(): Iterable<string> {
    return this.#byQueue.keys()
  }
}

function append(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}

function withdraw(lists: Map<string, string[]>, key: string, value: string): void {
  const left = (lists.get(key) ?? []).filter((other) => other !== value)
  if (left.length > 0) lists.set(key, left)
  else lists.delete(key)
}
