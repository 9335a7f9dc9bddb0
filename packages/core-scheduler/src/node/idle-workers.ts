import { fewFunctions, type Subscription } from '../model/subscription.ts'
import { FifoMap } from './fifo-map.ts'
import type { Clock } from '../clock.ts'

/** A worker without a job that wants to be woken. */
export interface IdleWorker {
  readonly subscription: Subscription
  /** A job may be there. The worker is no longer idle until it is added again. */
  wake(): void
}

/** Most keys of such lines without a worker: they stay, so that a lone worker does not enter them each time. One line stays however long. */
const maxEmptyKeys = 16_384

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

/** Idle workers of many functions that named the same: the line is found under each of their keys. */
class SharedLine extends IdleLine {
  readonly subscription: Subscription
  isGone = false

  constructor(subscription: Subscription) {
    super()
    this.subscription = subscription
  }

  get keys(): readonly string[] {
    return this.subscription.idleKeys
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
  /** By the keys of subscriptions. */
  readonly #sharedLines = new Map<string, SharedLine>()
  readonly #lineOf = new WeakMap<Subscription, SharedLine>()
  readonly #sharedByKey = new Map<string, Set<SharedLine>>()
  /** Lines without a worker, the one that has been so for longest first. */
  readonly #emptyLines = new Set<SharedLine>()
  #emptyKeys = 0
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

  /** Lines that workers of many functions share, those without a worker too. */
  get lines(): number {
    return this.#sharedLines.size
  }

  has(worker: IdleWorker): boolean {
    return this.#idle.has(worker)
  }

  /** Keys with idle workers. */
  *keys(): Iterable<string> {
    yield* this.#byKey.keys()
    for (const line of this.#sharedLines.values()) if (line.size > 0) yield* line.keys
  }

  hasConsumers(): boolean {
    return this.#consumers > 0
  }

  hasKey(key: string): boolean {
    if (this.#byKey.has(key)) return true
    for (const { size } of this.#sharedByKey.get(key) ?? []) if (size > 0) return true
    return false
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
    if (isShared(subscription)) this.#enterShared(worker, idle)
    else for (const key of subscription.idleKeys) this.#append(key, worker, idle)
  }

  #enterShared(worker: IdleWorker, idle: Idle): void {
    const line = this.#sharedLineOf(idle.subscription)
    if (this.#emptyLines.delete(line)) this.#emptyKeys -= line.keys.length
    enter(line, worker, idle)
  }

  #sharedLineOf(of: Subscription): SharedLine {
    const subscription = of.base ?? of
    const last = this.#lineOf.get(subscription)
    if (last && !last.isGone) return last
    const line = this.#sharedLines.get(subscription.key) ?? this.#beginShared(subscription)
    this.#lineOf.set(subscription, line)
    return line
  }

  #beginShared(subscription: Subscription): SharedLine {
    const line = new SharedLine(subscription)
    this.#sharedLines.set(subscription.key, line)
    for (const key of line.keys) {
      const lines = this.#sharedByKey.get(key)
      if (lines) lines.add(line)
      else this.#sharedByKey.set(key, new Set([line]))
    }
    return line
  }

  #leaveShared(subscription: Subscription, worker: IdleWorker): void {
    const line = this.#sharedLineOf(subscription)
    line.delete(worker)
    if (line.size > 0) return
    this.#emptyLines.add(line)
    this.#emptyKeys += line.keys.length
    for (const oldest of this.#emptyLines) {
      if (this.#emptyKeys <= maxEmptyKeys || oldest === line) break
      this.#endShared(oldest)
    }
  }

  #endShared(line: SharedLine): void {
    line.isGone = true
    this.#emptyLines.delete(line)
    this.#emptyKeys -= line.keys.length
    this.#sharedLines.delete(line.subscription.key)
    for (const key of line.keys) {
      const lines = this.#sharedByKey.get(key)
      if (lines?.delete(line) && lines.size === 0) this.#sharedByKey.delete(key)
    }
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
    this.#sharedLines.clear()
    this.#sharedByKey.clear()
  }

  remove(worker: IdleWorker): void {
    const found = this.#idle.get(worker)
    if (!found) return
    this.#idle.delete(worker)
    if (found.subscription.by === 'consumer') this.#consumers -= 1
    if (isShared(found.subscription)) {
      this.#leaveShared(found.subscription, worker)
      return
    }
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
    for (const key of keys) {
      best = this.#earlier(best, this.#firstOf(this.#byKey.get(key), until))
      for (const line of this.#sharedByKey.get(key) ?? [])
        best = this.#earlier(best, this.#firstOf(line, until))
    }
    return best
  }

  #earlier(one: IdleWorker | undefined, other: IdleWorker | undefined): IdleWorker | undefined {
    if (!one || !other) return one ?? other
    return this.#placeOf(other) < this.#placeOf(one) ? other : one
  }

  #placeOf(worker: IdleWorker): number {
    return this.#idle.get(worker)?.place ?? Infinity
  }

  #firstOf(line: IdleWorker | IdleLine | undefined, until: number): IdleWorker | undefined {
    if (!(line instanceof IdleLine)) return line && this.#wasIdle(line, until)
    const returned = line.returned.oldest()?.key
    const other = line.others.oldest()?.key
    return (returned && this.#wasIdle(returned, until)) ?? (other && this.#wasIdle(other, until))
  }

  #wasIdle(worker: IdleWorker, until: number): IdleWorker | undefined {
    return (this.#idle.get(worker)?.since ?? 0) <= until ? worker : undefined
  }
}

function isShared({ by, idleKeys }: Subscription): boolean {
  return by === 'named' && idleKeys.length > fewFunctions
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
