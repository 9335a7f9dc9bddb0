import type { Wakeups } from '../dispatch/wakeups.ts'
import type { Clock, Observer, Store } from '../store/ports.ts'

/** When to look for a job that was announced before it was pushed, milliseconds after the news. */
const looksAfterMs = [0, 2, 20, 200]
/** Where nobody slept at the news, one who does now is served after so long, milliseconds. */
const lookAgainMs = 20

interface Parts {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Pick<Observer, 'error'>
  readonly wakeups: Wakeups
}

/** Looks for jobs that came by another way, and wakes who can do them. */
export class LanePoller {
  readonly #parts: Parts
  readonly #toLook = new Map<string, number>()
  readonly #toStir = new Set<string>()
  #looking = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** A job was announced. Who falls asleep before it is pushed is not to miss it. */
  news(lane: string): void {
    const { clock, wakeups } = this.#parts
    if (wakeups.hasIdle(lane)) {
      this.#lookSoon(lane, 0)
      return
    }
    // A job came, or will in a moment, though nobody sleeps here who could be woken.
    wakeups.countArrival(lane)
    if (this.#toStir.has(lane)) return
    this.#toStir.add(lane)
    clock.after(lookAgainMs, () => {
      this.#toStir.delete(lane)
      wakeups.countArrival(lane)
      this.#lookSoon(lane, 0)
    })
  }

  /** Looks at a lane at the end of this turn, and again later while nothing is found. */
  #lookSoon(lane: string, attempt: number): void {
    const { store, clock, wakeups } = this.#parts
    const waitMs = looksAfterMs[attempt]
    if (waitMs === undefined) {
      void this.#guard(() => store.heal([lane]))
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
    const found = new Set(await this.#parts.store.nonEmpty([...announced.keys()]))
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
