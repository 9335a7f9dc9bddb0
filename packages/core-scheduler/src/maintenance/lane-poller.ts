import type { Wakeups } from '../dispatch/wakeups.ts'
import type { Clock } from '../clock.ts'
import type { Observer } from '../observer.ts'
import type { Store } from '../store/store.ts'

/** Delays of the looks for a job that is announced before it is pushed, milliseconds. */
const looksAfterMs = [0, 2, 20, 200]
/**
 * If no worker was idle at the announcement, delay before one that is idle now is served,
 * milliseconds.
 */
const lookAgainMs = 20

interface Parts {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Pick<Observer, 'error'>
  readonly wakeups: Wakeups
}

/** Finds jobs that came past this node's submissions, and wakes workers for them. */
export class LanePoller {
  readonly #parts: Parts
  readonly #toLook = new Map<string, number>()
  readonly #toStir = new Set<string>()
  #looking = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** A job was announced. A worker that becomes idle before it is pushed must not miss it. */
  news(lane: string): void {
    const { clock, wakeups } = this.#parts
    if (wakeups.hasIdle(lane)) {
      this.#lookSoon(lane, 0)
      return
    }
    // A job came, or will soon; no worker is idle that could be woken.
    wakeups.countArrival(lane)
    if (this.#toStir.has(lane)) return
    this.#toStir.add(lane)
    clock.after(lookAgainMs, () => {
      this.#toStir.delete(lane)
      wakeups.countArrival(lane)
      this.#lookSoon(lane, 0)
    })
  }

  /** Looks at a lane at the end of this turn, and again later while it finds nothing. */
  #lookSoon(lane: string, attempt: number): void {
    const { store, clock, wakeups } = this.#parts
    const waitMs = looksAfterMs[attempt]
    if (waitMs === undefined) {
      void this.#guard(() => store.lanes.heal([lane]))
      return
    }
    if (!wakeups.hasIdle(lane)) return
    if (waitMs === 0) {
      this.#toLook.set(lane, (this.#toLook.get(lane) ?? 0) + 1)
      if (this.#looking) return
      this.#looking = true
      clock.endOfTurn(() => void this.#lookNow())
      return
    }
    clock.after(waitMs, () => {
      if (wakeups.hasIdle(lane)) void this.#guard(() => this.#look(new Map([[lane, 1]]), attempt))
    })
  }

  async #lookNow(): Promise<void> {
    this.#looking = false
    const announced = new Map(this.#toLook)
    this.#toLook.clear()
    await this.#guard(() => this.#look(announced, 0))
  }

  async #look(announced: ReadonlyMap<string, number>, attempt: number): Promise<void> {
    const found = new Set(await this.#parts.store.lanes.nonEmpty([...announced.keys()]))
    for (const [lane, jobs] of announced) {
      if (found.has(lane)) this.#parts.wakeups.wake(lane, jobs)
      else this.#lookSoon(lane, attempt + 1)
    }
  }

  async #guard(run: () => Promise<unknown>): Promise<void> {
    try {
      await run()
    } catch (error) {
      this.#parts.observer.error('look', error)
    }
  }
}
