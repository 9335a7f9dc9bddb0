import { BroadcastWake, IdleWorkers, type IdleWorker } from './idle-workers.ts'
import { idleKeysOf, type IdleKeys } from '../model/subscription.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Clock } from '../clock.ts'
import { ArrivalCounters } from './arrival-counters.ts'
import type { Pauses } from '../admin/pauses.ts'
import type { WorkerLimits } from './worker-limits.ts'

/** Workers that are already awake for the jobs. */
export interface Awake {
  readonly byName: number
  readonly consumers: number
}

/**
 * For jobs that came through this node: the workers awake for them, and if consumers may take them.
 */
export interface OwnJobs extends Awake {
  readonly isOpen: boolean
}

interface WakeupParts {
  readonly registry: LaneRegistry
  readonly clock: Clock
  /** Idle workers woken for each job; 0: all, for workers that may refuse a job. */
  readonly perJob: number
  readonly limits: WorkerLimits
  readonly pauses: Pauses
}

/** Tracks idle workers and wakes them for jobs that come into a lane; a paused lane wakes nobody. */
export class Wakeups {
  readonly idle = new IdleWorkers()
  readonly arrivals = new ArrivalCounters()
  readonly #registry: LaneRegistry
  readonly #perJob: number
  readonly #limits: WorkerLimits
  readonly #rounds: BroadcastWake
  readonly #pauses: Pauses

  constructor({ registry, clock, perJob, limits, pauses }: WakeupParts) {
    this.#limits = limits
    this.#pauses = pauses
    this.#registry = registry
    this.#perJob = perJob
    this.#rounds = new BroadcastWake(this.idle, clock)
  }

  /**
   * Wakes workers for new jobs. For jobs of other nodes it is unknown if consumers may take them.
   */
  wake(lane: string, jobs: number, own?: OwnJobs): void {
    const { byName, byQueue } = this.countArrival(lane, own !== undefined)
    if (this.idle.size === 0 || this.#pauses.holdsBack(lane)) return
    const { byName: named = 0, consumers = 0, isOpen = true } = own ?? {}
    if (this.#wakesAll(lane)) {
      for (const keys of isOpen ? [byName, [byQueue]] : [byName]) this.#rounds.wakeAll(keys)
      return
    }
    this.idle.wake(byName, jobs * this.#perJob - named)
    if (isOpen) this.idle.wake([byQueue], jobs * this.#perJob - consumers)
  }

  /** Wakes consumers for jobs on their way to the store: their claims go with the same call. */
  wakeConsumers(lane: string, jobs: number): number {
    if (this.idle.size === 0 || this.#wakesAll(lane) || this.#pauses.holdsBack(lane)) return 0
    return this.idle.wake([idleKeysOf(lane, this.#registry).byQueue], jobs * this.#perJob)
  }

  /** The idle key of a lane's queue, if each job of it is for one worker. */
  queueToServe(lane: string): string | undefined {
    if (this.#wakesAll(lane) || this.#pauses.holdsBack(lane)) return undefined
    return idleKeysOf(lane, this.#registry).byQueue
  }

  #wakesAll(lane: string): boolean {
    return this.#perJob === 0 || this.#limits.covers(lane)
  }

  wakeOne(worker: IdleWorker): void {
    this.idle.remove(worker)
    worker.wake()
  }

  /** Counts a possible arrival without waking anybody. */
  countArrival(lane: string, own = false): IdleKeys {
    const keys = idleKeysOf(lane, this.#registry)
    this.arrivals.add([...keys.byName, keys.byQueue], own)
    return keys
  }

  /** Forgets the arrivals of a lane that has left the registry, and of its function and queue with their last lane. */
  forgetArrivals(lane: string): void {
    const { names } = this.#registry
    const { fn, queue } = names.parse(lane)
    const gone = [`l${lane}`]
    if (this.#registry.ofFunction(fn).length === 0) gone.push(`f${fn}`)
    if (this.#registry.ofQueue(queue).length === 0) gone.push(`q${queue}`)
    this.arrivals.forget(gone)
  }

  hasIdle(lane: string): boolean {
    if (this.#pauses.holdsBack(lane)) return false
    const { byName, byQueue } = idleKeysOf(lane, this.#registry)
    return this.idle.hasKey(byQueue) || byName.some((key) => this.idle.hasKey(key))
  }

  /** The named worker that the next job of a lane will wake. */
  nextByName(lane: string): IdleWorker | undefined {
    if (this.idle.size === 0 || this.#pauses.holdsBack(lane)) return undefined
    return this.idle.next(idleKeysOf(lane, this.#registry).byName)
  }
}
