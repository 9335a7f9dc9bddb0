import { IdleWorkers, type IdleWorker } from './idle-workers.ts'
import { idleKeysOf, type IdleKeys } from '../model/subscription.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Clock } from '../store/ports.ts'
import { ArrivalCounters } from './arrival-counters.ts'
import { BroadcastWake } from './broadcast-wake.ts'
import type { WorkerLimits } from './worker-limits.ts'

/** Workers that are awake already for jobs that come. */
export interface Awake {
  readonly byName: number
  readonly consumers: number
}

/** Of jobs that came through this node: who is awake for them, and whether consumers may take them. */
export interface OwnJobs extends Awake {
  readonly isOpen: boolean
}

/** Tracks idle workers and wakes them for jobs that come into a lane. */
export class Wakeups {
  readonly idle = new IdleWorkers()
  readonly arrivals = new ArrivalCounters()
  readonly #registry: LaneRegistry
  readonly #perJob: number
  readonly #limits: WorkerLimits
  readonly #rounds: BroadcastWake

  /** `perJob` idle workers are woken for each job; 0: all, as where the next may have all that it is given. */
  constructor(registry: LaneRegistry, clock: Clock, perJob: number, limits: WorkerLimits) {
    this.#limits = limits
    this.#registry = registry
    this.#perJob = perJob
    this.#rounds = new BroadcastWake(this.idle, clock)
  }

  /** Jobs have come. Of others' jobs it is not known whether consumers may take them. */
  wake(lane: string, jobs: number, own?: OwnJobs): void {
    const { byName, byQueue } = this.countArrival(lane, own !== undefined)
    if (this.idle.size === 0) return
    const { byName: named = 0, consumers = 0, isOpen = true } = own ?? {}
    if (this.#wakesAll(lane)) {
      for (const keys of isOpen ? [byName, [byQueue]] : [byName]) this.#rounds.wakeAll(keys)
      return
    }
    this.idle.wake(byName, jobs * this.#perJob - named)
    if (isOpen) this.idle.wake([byQueue], jobs * this.#perJob - consumers)
  }

  /** Jobs are on their way to the store: consumers that wait claim with the call that brings them. */
  wakeConsumers(lane: string, jobs: number): number {
    if (this.idle.size === 0 || this.#wakesAll(lane)) return 0
    return this.idle.wake([idleKeysOf(lane, this.#registry).byQueue], jobs * this.#perJob)
  }

  #wakesAll(lane: string): boolean {
    return this.#perJob === 0 || this.#limits.covers(lane)
  }

  wakeOne(worker: IdleWorker): void {
    this.idle.remove(worker)
    worker.wake()
  }

  /** Jobs may have come, of which nobody is told yet. */
  countArrival(lane: string, own = false): IdleKeys {
    const keys = idleKeysOf(lane, this.#registry)
    this.arrivals.add([...keys.byName, keys.byQueue], own)
    return keys
  }

  hasIdle(lane: string): boolean {
    const { byName, byQueue } = idleKeysOf(lane, this.#registry)
    return this.idle.hasKey(byQueue) || byName.some((key) => this.idle.hasKey(key))
  }

  /** The worker by name that the next job of a lane will wake. */
  nextByName(lane: string): IdleWorker | undefined {
    if (this.idle.size === 0) return undefined
    return this.idle.next(idleKeysOf(lane, this.#registry).byName)
  }
}
