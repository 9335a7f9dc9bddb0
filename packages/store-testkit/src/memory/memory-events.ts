import type { EventStore, StoreListener, Watched } from '@crossgear/core-scheduler'
import type { Run } from './memory-world.ts'

/** Events that a node of a {@link MemoryWorld} receives. */
export class MemoryEvents implements EventStore {
  watched: Watched = new Set()
  listener: StoreListener | undefined
  readonly #node: string
  readonly #step: Run

  constructor(node: string, step: Run) {
    this.#node = node
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

  send(node: string, what: 'ask' | 'answer', number: number, text: string): Promise<boolean> {
    return this.#step((world) => {
      world.notify(
        (other) => other.node === node,
        (listener) => listener[what === 'ask' ? 'asked' : 'answered'](this.#node, number, text),
      )
      return world.isListening(node)
    })
  }

  delivered(): Promise<void> {
    return Promise.resolve()
  }
}
