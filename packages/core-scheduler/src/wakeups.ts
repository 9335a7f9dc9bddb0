import { IdleWorkers, type IdleWorker } from './idle-workers.ts'
import { idleKeysOf, type IdleKeys } from './interest.ts'
import type { LaneRegistry } from './lane-registry.ts'
import { Stirs } from './stirs.ts'

/** Who sleeps, and who is woken for what comes into a lane. */
export class Wakeups {
  readonly idle = new IdleWorkers()
  readonly stirs = new Stirs()
  readonly #registry: LaneRegistry
  readonly #perJob: number

  /** `perJob` idle workers are woken for each job; 0: all. */
  constructor(registry: LaneRegistry, perJob: number) {
    this.#registry = registry
    this.#perJob = perJob === 0 ? Infinity : perJob
  }

  /**
   * Jobs have come, `own` ones through this node. Workers by name and consumers are woken alike: the lane
   * may be closed to the latter.
   */
  wake(lane: string, jobs: number, own = false): void {
    const { byName, byQueue } = this.stir(lane, own)
    if (this.idle.size === 0) return
    this.idle.wake(byName, jobs * this.#perJob)
    this.idle.wake([byQueue], jobs * this.#perJob)
  }

  /** Jobs may have come, of which nobody is told yet. */
  stir(lane: string, own = false): IdleKeys {
    const keys = idleKeysOf(lane, this.#registry)
    this.stirs.add([...keys.byName, keys.byQueue], own)
    return keys
  }

  /** The worker by name that the next job of a lane will wake. */
  nextByName(lane: string): IdleWorker | undefined {
    if (this.idle.size === 0) return undefined
    return this.idle.next(idleKeysOf(lane, this.#registry).byName)
  }
}
