import { fewFunctions, type Subscription } from '../model/subscription.ts'
import type { EventStore } from '../store/event-ports.ts'
import type { NodeParts } from './node-parts.ts'

/** Delay before a change goes to the store, milliseconds: many changes become one call. */
const settleMs = 5
/**
 * Time that an unused lane stays watched, milliseconds: a short pause of a worker costs no calls.
 */
const lingerMs = 2_000

interface Parts extends Pick<NodeParts, 'clock' | 'events' | 'registry'> {
  readonly store: { readonly events: Pick<EventStore, 'watch'> }
  readonly observer: Pick<NodeParts['observer'], 'error'>
}

/** Lanes whose events a part of this node needs now. */
type Wanted = () => Iterable<string> | 'all'

/** Keeps the store's subscriptions equal to what the parts want; failures are retried at the next touch. */
export class ChannelSubscriptions {
  readonly #parts: Parts
  readonly #wanted: Wanted[] = []
  #current: ReadonlySet<string> | 'all' = new Set()
  #lastWanted = new Map<string, number>()
  #allWantedMs = -Infinity
  #cancel: (() => void) | undefined
  #applying = false
  #isCaughtUp = true
  #version = 0
  #gaps = 0

  constructor(parts: Parts) {
    this.#parts = parts
    parts.events.on('beat', () => this.touch())
  }

  /** Adds to what this node watches. */
  want(lanes: Wanted): void {
    this.#wanted.push(lanes)
  }

  /** False from the loss of the store until the gap is caught up with. */
  get isCaughtUp(): boolean {
    return this.#isCaughtUp
  }

  /** Grows whenever other lanes are watched. */
  get version(): number {
    return this.#version
  }

  /** Grows whenever events may have been missed. */
  get gaps(): number {
    return this.#gaps
  }

  /** The connection to the store was lost. */
  lost(): void {
    this.#gaps += 1
    this.#isCaughtUp = false
  }

  /** Events missed since the connection was lost are made up for. */
  caughtUp(): void {
    this.#isCaughtUp = true
  }

  /** True if events announce every job that a worker can take; of one with many functions its search knows. */
  announcesAll(subscription: Subscription): boolean {
    if (!this.#isCaughtUp || subscription.idleKeys.length > fewFunctions) return false
    if (this.#current === 'all') return true
    const groups = subscription.groups(this.#parts.registry)
    return groups.every(({ lanes }) => lanes.every((lane) => this.covers(lane)))
  }

  coversAll(lanes: Iterable<string>): boolean {
    if (this.#current === 'all') return true
    for (const lane of lanes) if (!this.#current.has(lane)) return false
    return true
  }

  covers(lane: string): boolean {
    return this.#current === 'all' || this.#current.has(lane)
  }

  /** The wanted lanes may have changed. */
  touch(): void {
    this.#cancel ??= this.#parts.clock.after(settleMs, () => {
      this.#cancel = undefined
      void this.#sync()
    })
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  async #sync(): Promise<void> {
    if (this.#applying) {
      this.touch()
      return
    }
    const next = this.#next()
    const before = this.#current
    const fresh = freshOf(before, next)
    if (fresh === undefined && sizeOf(before) === sizeOf(next)) return
    const { store, events, observer } = this.#parts
    this.#applying = true
    try {
      await store.events.watch(next)
      this.#current = next
      this.#version += 1
      if (fresh !== undefined) events.emit('lanesWatched', fresh)
    } catch (error) {
      observer.error('watch', error)
    } finally {
      this.#applying = false
    }
  }

  /** Lanes wanted now, and lanes wanted until a moment ago. */
  #next(): ReadonlySet<string> | 'all' {
    const nowMs = this.#parts.clock.nowMs()
    for (const lanesOf of this.#wanted) {
      const lanes = lanesOf()
      if (lanes === 'all') this.#allWantedMs = nowMs
      else for (const lane of lanes) this.#lastWanted.set(lane, nowMs)
    }
    for (const [lane, lastMs] of this.#lastWanted) {
      if (nowMs - lastMs >= lingerMs) this.#lastWanted.delete(lane)
    }
    if (nowMs - this.#allWantedMs < lingerMs) return 'all'
    return new Set(this.#lastWanted.keys())
  }
}

function sizeOf(lanes: ReadonlySet<string> | 'all'): number {
  return lanes === 'all' ? -1 : lanes.size
}

function freshOf(
  before: ReadonlySet<string> | 'all',
  next: ReadonlySet<string> | 'all',
): ReadonlySet<string> | 'all' | undefined {
  if (before === 'all') return undefined
  if (next === 'all') return 'all'
  const fresh = new Set([...next].filter((lane) => !before.has(lane)))
  return fresh.size > 0 ? fresh : undefined
}
