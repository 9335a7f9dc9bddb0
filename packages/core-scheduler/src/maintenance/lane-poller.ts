import type { Wakeups } from '../dispatch/wakeups.ts'
import type { Clock } from '../clock.ts'
import type { Observer } from '../observer.ts'
import type { Store } from '../store/store.ts'

/** Delays of the polls for a job that is announced before it is pushed, milliseconds. */
const pollsAfterMs = [0, 2, 20, 200]
/**
 * If no worker was idle at the announcement, delay before one that is idle now is served,
 * milliseconds.
 */
const pollAgainMs = 20

interface Parts {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Pick<Observer, 'error'>
  readonly wakeups: Wakeups
}

/** Finds jobs that were not submitted at this node, and wakes workers for them. */
export class LanePoller {
  readonly #parts: Parts
  readonly #toPoll = new Map<string, number>()
  readonly #toPollAgain = new Set<string>()
  #polling = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** A job was announced. A worker that becomes idle before it is pushed must not miss it. */
  news(lane: string): void {
    const { clock, wakeups } = this.#parts
    if (wakeups.hasIdle(lane)) {
      this.#pollSoon(lane, 0)
      return
    }
    // A job came, or will soon; no worker is idle that could be woken.
    wakeups.countArrival(lane)
    if (this.#toPollAgain.has(lane)) return
    this.#toPollAgain.add(lane)
    clock.after(pollAgainMs, () => {
      this.#toPollAgain.delete(lane)
      wakeups.countArrival(lane)
      this.#pollSoon(lane, 0)
    })
  }

  /** Polls a lane at the end of this turn, and again later while it finds nothing. */
  #pollSoon(lane: string, attempt: number): void {
    const { store, clock, wakeups } = this.#parts
    const waitMs = pollsAfterMs[attempt]
    if (waitMs === undefined) {
      void this.#guard(() => store.lanes.heal([lane]))
      return
    }
    if (!wakeups.hasIdle(lane)) return
    if (waitMs === 0) {
      this.#toPoll.set(lane, (this.#toPoll.get(lane) ?? 0) + 1)
      if (this.#polling) return
      this.#polling = true
      clock.endOfTurn(() => void this.#pollNow())
      return
    }
    clock.after(waitMs, () => {
      if (wakeups.hasIdle(lane)) void this.#guard(() => this.#poll(new Map([[lane, 1]]), attempt))
    })
  }

  async #pollNow(): Promise<void> {
    this.#polling = false
    const announced = new Map(this.#toPoll)
    this.#toPoll.clear()
    await this.#guard(() => this.#poll(announced, 0))
  }

  async #poll(announced: ReadonlyMap<string, number>, attempt: number): Promise<void> {
    const found = new Set(await this.#parts.store.lanes.nonEmpty([...announced.keys()]))
    for (const [lane, jobs] of announced) {
      if (found.has(lane)) this.#parts.wakeups.wake(lane, jobs)
      else this.#pollSoon(lane, attempt + 1)
    }
  }

  async #guard(run: () => Promise<unknown>): Promise<void> {
    try {
      await run()
    } catch (error) {
      this.#parts.observer.error('poll a lane', error)
    }
  }
}
