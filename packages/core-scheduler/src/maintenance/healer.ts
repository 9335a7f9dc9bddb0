import type { Bridging } from '../dispatch/bridging.ts'
import type { Store } from '../store/store.ts'
import type { LaneCheck } from './lane-looks.ts'
import type { TaskTimes } from './task-times.ts'

interface Parts {
  readonly store: Pick<Store, 'lanes'>
  readonly bridging: Bridging
  readonly tasks: TaskTimes
}

/** Repairs indexes after native programs wrote into lanes. */
export class Healer implements LaneCheck {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Stranded lanes are seen again until they are not. */
  look(lanes: readonly string[]): Promise<readonly string[]> {
    const { store, bridging, tasks } = this.#parts
    return tasks.time('heal', async () => {
      bridging.looked(lanes, await store.lanes.heal(lanes))
      return bridging.stranded()
    })
  }
}
