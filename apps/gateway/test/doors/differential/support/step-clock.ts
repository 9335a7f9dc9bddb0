import { systemClock } from '../../../../src/doors/net/clock.ts'

type Clock = typeof systemClock

/** Shorter delays are over at once; longer ones stand still until time flows. */
const momentMs = 100

/**
 * A clock of a node that comes to rest: over a short delay it goes forward at once, and what a
 * node does every so often waits until a case is about time.
 */
export class StepClock implements Clock {
  #moments = 0
  #aheadMs = 0
  #isFlowing = false
  readonly #standing = new Set<() => void>()

  get isAtRest(): boolean {
    return this.#moments === 0
  }

  nowMs(): number {
    return systemClock.nowMs() + this.#aheadMs
  }

  endOfTurn(task: () => void): void {
    this.#moments += 1
    systemClock.endOfTurn(() => {
      this.#moments -= 1
      task()
    })
  }

  after(ms: number, task: () => void): () => void {
    if (ms < momentMs) {
      let isWanted = true
      const atMs = this.nowMs() + ms
      this.endOfTurn(() => {
        if (!isWanted) return
        this.#aheadMs += Math.max(0, atMs - this.nowMs())
        task()
      })
      return () => {
        isWanted = false
      }
    }
    if (this.#isFlowing) return systemClock.after(ms, task)
    let cancel = (): void => void this.#standing.delete(start)
    const start = (): void => {
      cancel = systemClock.after(ms, task)
    }
    this.#standing.add(start)
    return () => cancel()
  }

  /** From now on delays last as long as they say. */
  flow(): void {
    this.#isFlowing = true
    for (const start of this.#standing) start()
    this.#standing.clear()
  }
}
