import { IdleWorkers, type IdleWorker } from './idle-workers.ts'
import { idleKeysOf, type IdleKeys } from '../model/interest.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Clock } from '../store/ports.ts'
import { Stirs } from './stirs.ts'
import { WakeRounds } from './wake-rounds.ts'
import type { WorkerLimits } from './worker-limits.ts'

/** Who sleeps, and who is woken for what comes into a lane. */
export class Wakeups {
  readonly idle = new IdleWorkers()
  readonly stirs = new Stirs()
  readonly #registry: LaneRegistry
  readonly #perJob: number
  readonly #limits: WorkerLimits
  readonly #rounds: WakeRounds

  /** `perJob` idle workers are woken for each job; 0: all, as where the next may have all that it is given. */
  constructor(registry: LaneRegistry, clock: Clock, perJob: number, limits: WorkerLimits) {
    this.#limits = limits
    this.#registry = registry
    this.#perJob = perJob
    this.#rounds = new WakeRounds(this.idle, clock)
  }

  /**
   * Jobs have come: `own` ones through this node, for which so many workers by name are awake. They and
   * consumers are woken alike: the lane may be closed to the latter.
   */
  wake(lane: string, jobs: number, own?: { readonly awake: number }): void {
    const { byName, byQueue } = this.stir(lane, own !== undefined)
    if (this.idle.size === 0) return
    if (this.#perJob === 0 || this.#limits.covers(lane)) {
      for (const keys of [byName, [byQueue]]) this.#rounds.wakeAll(keys)
      return
    }
    this.idle.wake(byName, jobs * this.#perJob - (own?.awake ?? 0))
    this.idle.wake([byQueue], jobs * this.#perJob)
  }

  wakeOne(worker: IdleWorker): void {
    this.idle.remove(worker)
    worker.wake()
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
