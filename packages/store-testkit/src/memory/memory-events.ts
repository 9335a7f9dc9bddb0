import type { EventStore, StoreListener, Watched } from '@crossgear/core-scheduler'
import { MemoryPart } from './memory-part.ts'

/** Events that a node of a {@link MemoryWorld} receives. */
export class MemoryEvents extends MemoryPart implements EventStore {
  watched: Watched = new Set()
  listener: StoreListener | undefined

  watch(lanes: Watched): Promise<void> {
    return this.step(() => {
      this.watched = lanes
    })
  }

  listen(listener: StoreListener): void {
    this.listener = listener
  }

  send(node: string, what: 'ask' | 'answer', number: number, text: string): Promise<boolean> {
    return this.step((world) => {
      world.notify(
        (other) => other.node === node,
        (listener) => listener[what === 'ask' ? 'asked' : 'answered'](this.node, number, text),
      )
      return world.isListening(node)
    })
  }

  delivered(): Promise<void> {
    return Promise.resolve()
  }
}
