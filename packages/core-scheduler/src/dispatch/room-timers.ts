import type { NodeParts } from '../node/node-parts.ts'
import type { Subscription } from '../model/subscription.ts'
import { Part } from '../node/node-parts.ts'

/** How long workers that got nothing for a limit are not woken by a look at their lanes, milliseconds. */
const heldBackMs = 1_000

type Parts = Pick<NodeParts, 'clock' | 'events'>

/** Wakes waiting workers when a rate limit has room again, and lets them sleep until then. */
export class RoomTimers extends Part<Parts> {
  readonly #byLimit = new Map<string, () => void>()
  /** Subscriptions whose claims found only jobs that a limit holds back, by key. */
  readonly #heldBack = new Map<string, { readonly arrivals: number; readonly atMs: number }>()

  stop(): void {
    for (const cancel of this.#byLimit.values()) cancel()
    this.#byLimit.clear()
  }

  /** `waitMs` is 0 if the end of a job makes room. */
  arm(limit: string, waitMs: number): void {
    if (waitMs === 0 || this.#byLimit.has(limit)) return
    const { clock, events } = this.parts
    const cancel = clock.after(waitMs, () => {
      this.#byLimit.delete(limit)
      events.emit('throttleReleased', limit)
    })
    this.#byLimit.set(limit, cancel)
  }

  /** A claim got nothing, since a limit holds jobs back. `arrivals`: see {@link ArrivalCounters.of}, when it was sent. */
  noteHeldBack({ key }: Subscription, arrivals: number): void {
    const atMs = this.parts.clock.nowMs()
    for (const [other, known] of this.#heldBack) {
      if (atMs - known.atMs >= heldBackMs) this.#heldBack.delete(other)
    }
    this.#heldBack.set(key, { arrivals, atMs })
  }

  /** True while nothing has come since: another claim would get nothing either. */
  isHeldBack({ key }: Subscription, arrivals: number): boolean {
    const known = this.#heldBack.get(key)
    return known?.arrivals === arrivals && this.parts.clock.nowMs() - known.atMs < heldBackMs
  }
}
