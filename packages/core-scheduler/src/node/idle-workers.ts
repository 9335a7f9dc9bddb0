import type { Subscription } from '../model/subscription.ts'
import { FifoMap } from './fifo-map.ts'
import type { Clock } from '../clock.ts'

/** A worker without a job that wants to be woken. */
export interface IdleWorker {
  readonly subscription: Subscription
  /** A job may be there. The worker is no longer idle until it is added again. */
  wake(): void
}

/** Idle workers under one key, each with its place in the line, oldest first. */
class IdleLine {
  /** Workers woken for nothing and idle again, in their old places: before all others. */
  readonly returned = new FifoMap<IdleWorker, number>()
  readonly others = new FifoMap<IdleWorker, number>()

  get size(): number {
    return this.returned.size + this.others.size
  }

  delete(worker: IdleWorker): void {
    if (!this.returned.delete(worker)) this.others.delete(worker)
  }
}

interface Idle {
  readonly subscription: Subscription
  readonly since: number
  readonly place: number
  /** Woken for nothing, and idle again in its old place. */
  readonly isReturned: boolean
}

/** Idle workers in the order in which they became idle, found by what they can do. */
export class IdleWorkers {
  /** A worker that is alone under a key takes no line: it may have a thousand keys. */
  readonly #byKey = new Map<string, IdleWorker | IdleLine>()
  readonly #idle = new Map<IdleWorker, Idle>()
  readonly #places = new WeakMap<IdleWorker, number>()
  #sequence = 0
  #idleCount = 0
  #consumers = 0
  #isClosed = false

  /** How often a worker has become idle. */
  get idleCount(): number {
    return this.#idleCount
  }

  get size(): number {
    return this.#idle.size
  }

  has(worker: IdleWorker): boolean {
    return this.#idle.has(worker)
  }

  /** Keys with idle workers. */
  keys(): Iterable<string> {
    return this.#byKey.keys()
  }

  hasConsumers(): boolean {
    return this.#consumers > 0
  }

  hasKey(key: string): boolean {
    return this.#byKey.has(key)
  }

  /** Puts a worker at the end of the line, or with `again` where it stood before it was woken. */
  add(worker: IdleWorker, again = false): void {
    this.remove(worker)
    if (this.#isClosed) return
    const { subscription } = worker
    const before = again ? this.#places.get(worker) : undefined
    const place = before ?? (this.#sequence += 1)
    this.#places.set(worker, place)
    this.#idleCount += 1
    const idle = { subscription, since: this.#idleCount, place, isReturned: before !== undefined }
    this.#idle.set(worker, idle)
    if (subscription.by === 'consumer') this.#consumers += 1
    for (const key of subscription.idleKeys) this.#append(key, worker, idle)
  }

  #append(key: string, worker: IdleWorker, idle: Idle): void {
    const known = this.#byKey.get(key)
    if (!known || known === worker) {
      this.#byKey.set(key, worker)
      return
    }
    let line = known
    if (!(line instanceof IdleLine)) {
      line = new IdleLine()
      this.#byKey.set(key, line)
      // Only idle workers stand under a key.
      enter(line, known as IdleWorker, this.#idle.get(known as IdleWorker) ?? idle)
    }
    enter(line, worker, idle)
  }

  /** Wakes no more workers. */
  close(): void {
    this.#isClosed = true
    this.#idle.clear()
    this.#consumers = 0
    this.#byKey.clear()
  }

  remove(worker: IdleWorker): void {
    const found = this.#idle.get(worker)
    if (!found) return
    this.#idle.delete(worker)
    if (found.subscription.by === 'consumer') this.#consumers -= 1
    for (const key of found.subscription.idleKeys) {
      const line = this.#byKey.get(key)
      if (line instanceof IdleLine) line.delete(worker)
      if (line === worker || (line instanceof IdleLine && line.size === 0)) this.#byKey.delete(key)
    }
  }

  /** The next worker to be woken. */
  next(keys: readonly string[]): IdleWorker | undefined {
    return this.#longestIdle(keys, Infinity)
  }

  /**
   * Wakes up to `count` idle workers under any of the keys, the longest idle first; with `until`
   * only those that were idle when {@link idleCount} had that value.
   */
  wake(keys: readonly string[], count: number, until = Infinity): number {
    let woken = 0
    while (woken < count) {
      const worker = this.#longestIdle(keys, until)
      if (!worker) break
      this.remove(worker)
      worker.wake()
      woken += 1
    }
    return woken
  }

  #longestIdle(keys: readonly string[], until: number): IdleWorker | undefined {
    let best: IdleWorker | undefined
    let bestPlace = Infinity
    for (const key of keys) {
      const first = this.#firstOf(key, until)
      const place = first && this.#idle.get(first)?.place
      if (!first || place === undefined || place >= bestPlace) continue
      best = first
      bestPlace = place
    }
    return best
  }

  #firstOf(key: string, until: number): IdleWorker | undefined {
    const line = this.#byKey.get(key)
    if (!(line instanceof IdleLine)) return line && this.#wasIdle(line, until)
    const returned = line.returned.oldest()?.key
    const other = line.others.oldest()?.key
    return (returned && this.#wasIdle(returned, until)) ?? (other && this.#wasIdle(other, until))
  }

  #wasIdle(worker: IdleWorker, until: number): IdleWorker | undefined {
    return (this.#idle.get(worker)?.since ?? 0) <= until ? worker : undefined
  }
}

function enter(line: IdleLine, worker: IdleWorker, { place, isReturned }: Idle): void {
  ;(isReturned ? line.returned : line.others).set(worker, place)
}

/** With thousands of idle workers the first one has its job long before the last is woken. */
const maxPerTurn = 32

interface Round {
  readonly keys: readonly string[]
  /** Ends when all workers that were idle then are awake. */
  until: number
}

/** Wakes all idle workers, some in each turn of the event loop. */
export class BroadcastWake {
  readonly #idle: IdleWorkers
  readonly #clock: Clock
  /** Wake-ups in progress, by their keys. */
  readonly #rounds = new Map<string, Round>()

  constructor(idle: IdleWorkers, clock: Clock) {
    this.#idle = idle
    this.#clock = clock
  }

  /** Wakes all workers idle under any of the keys, the longest idle first. */
  wakeAll(keys: readonly string[]): void {
    const until = this.#idle.idleCount
    const name = JSON.stringify(keys)
    const underWay = this.#rounds.get(name)
    if (underWay) underWay.until = until
    else this.#goOn(name, { keys, until })
  }

  #goOn(name: string, round: Round): void {
    if (this.#idle.wake(round.keys, maxPerTurn, round.until) < maxPerTurn) {
      this.#rounds.delete(name)
      return
    }
    this.#rounds.set(name, round)
    this.#clock.endOfTurn(() => this.#goOn(name, round))
  }
}
