import { BroadcastWake, IdleWorkers, type IdleWorker } from './idle-workers.ts'
import { idleKeysOf, type IdleKeys } from '../model/subscription.ts'
import { ArrivalCounters } from './arrival-counters.ts'
import type { ChannelSubscriptions } from './channel-subscriptions.ts'
import type { NodeParts } from './node-parts.ts'
import type { Pauses } from './pauses.ts'
import type { WorkerLimits } from './worker-limits.ts'

/** Workers that are already awake for the jobs. */
export interface Awake {
  readonly byName: number
  readonly consumers: number
}

export const nobody: Awake = { byName: 0, consumers: 0 }

/**
 * For jobs that came through this node: the workers awake for them, and if consumers may take them.
 */
export interface OwnJobs extends Awake {
  readonly isOpen: boolean
}

interface Parts extends Pick<NodeParts, 'registry' | 'clock' | 'events'> {
  /** Idle workers woken for each job; 0: all, for workers that may refuse a job. */
  readonly perJob: number
  readonly limits: WorkerLimits
  readonly pauses: Pauses
  readonly subscriptions: ChannelSubscriptions
}

/** Tracks idle workers and wakes them for jobs that come into a lane; a paused lane wakes nobody. */
export class Wakeups {
  readonly idle = new IdleWorkers()
  readonly arrivals = new ArrivalCounters()
  readonly #registry: NodeParts['registry']
  readonly #perJob: number
  readonly #limits: WorkerLimits
  readonly #rounds: BroadcastWake
  readonly #pauses: Pauses

  constructor({ registry, clock, events, perJob, limits, pauses, subscriptions }: Parts) {
    this.#limits = limits
    this.#pauses = pauses
    this.#registry = registry
    this.#perJob = perJob
    this.#rounds = new BroadcastWake(this.idle, clock)
    events.on('woken', (lane, jobs) => this.wake(lane, jobs))
    events.on('laneRemoved', (lane) => this.#forgetArrivals(lane))
    subscriptions.want(() => this.#idleLanes())
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

  /** Wakes consumers for jobs on their way to the store: their claims go with the same call, a step less a job for a blocked FETCH. */
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
  #forgetArrivals(lane: string): void {
    const { names } = this.#registry
    const { fn, queue } = names.parse(lane)
    const gone = [`l${lane}`]
    if (this.#registry.ofFunction(fn).length === 0) gone.push(`f${fn}`)
    if (this.#registry.ofQueue(queue).length === 0) gone.push(`q${queue}`)
    this.arrivals.forget(gone)
  }

  /** Lanes with idle workers; all while a consumer is idle: its queues may have lanes that no gateway knows yet. */
  #idleLanes(): Iterable<string> | 'all' {
    if (this.idle.hasConsumers()) return 'all'
    const lanes = new Set<string>()
    for (const key of this.idle.keys()) {
      const name = key.slice(1)
      lanes.add(name)
      if (key.startsWith('f')) for (const lane of this.#registry.ofFunction(name)) lanes.add(lane)
    }
    return lanes
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
