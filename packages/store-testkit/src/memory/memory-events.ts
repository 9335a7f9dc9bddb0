import type { EventStore, StoreListener, Watched } from '@crossgear/core-scheduler'
import type { Run } from './memory-world.ts'

/** Events that a node of a {@link MemoryWorld} receives. */
export class MemoryEvents implements EventStore {
  watched: Watched = new Set()
  listener: StoreListener | undefined
  readonly #step: Run

  constructor(step: Run) {
    this.#step = step
  }

  watch(lanes: Watched): Promise<void> {
    return this.#step(() => {
      this.watched = lanes
    })
  }

  listen(listener: StoreListener): void {
    this.listener = listener
  }

  delivered(): Promise<void> {
    return Promise.resolve()
  }
}
