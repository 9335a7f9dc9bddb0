import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Store } from '../store/ports.ts'

interface Parts {
  readonly store: Store
  readonly registry: LaneRegistry
  readonly register: (lane: string) => Promise<unknown>
  /** The lane is known, and has got a job. */
  readonly added: (lane: string) => void
  readonly onError: (error: unknown) => void
}

/**
 * Registers the lanes that native clients announce. A message may come from another database of the
 * server: a lane is added only if the job is in this one. Looks at one announcement of a lane at a time.
 */
export class NewLanes {
  readonly #parts: Parts
  /** The last announcement of each lane that is being looked at; 0: none came meanwhile. */
  readonly #next = new Map<string, number>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  announced(lane: string, id: number): void {
    const isLooking = this.#next.has(lane)
    this.#next.set(lane, isLooking ? id : 0)
    if (!isLooking) void this.#look(lane, id)
  }

  async #look(lane: string, first: number): Promise<void> {
    const { store, registry, register, added, onError } = this.#parts
    try {
      for (let id = first; id !== 0; id = this.#next.get(lane) ?? 0) {
        this.#next.set(lane, 0)
        const [job] = registry.numberOf(lane) === undefined ? await store.look(lane, [id]) : [true]
        if (!job) continue
        await register(lane)
        added(lane)
        return
      }
    } catch (error) {
      onError(error)
    } finally {
      this.#next.delete(lane)
    }
  }
}
