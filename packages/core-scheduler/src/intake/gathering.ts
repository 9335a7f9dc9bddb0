import type { Clock } from '../store/ports.ts'

/** Over so long the pace is measured, milliseconds. */
const paceMs = 20
/** Slower than this, items per millisecond, nothing waits beyond its turn. */
const leastPace = 2
/** The first item waits no longer than this for others, milliseconds. */
const gatherMs = 1
/** More items are not waited for. */
const enoughItems = 128

/**
 * Says when what has come for the store goes there: at the end of the turn that brought it. Only
 * where a lot comes, turn after turn, it waits for that of the next turns, for a call costs little
 * more for many items than for one. It goes as soon as a turn brings nothing.
 */
export class Gathering {
  readonly #clock: Clock
  readonly #send: () => void
  readonly #endOfTurn = (): void => this.#look()
  #isArmed = false
  #items = 0
  #itemsBefore = 0
  #firstMs = 0
  #paceSinceMs = 0
  #paceItems = 0
  #isFast = false

  /** `send` hands over all that has been gathered. */
  constructor(clock: Clock, send: () => void) {
    this.#clock = clock
    this.#send = send
  }

  /** An item came. */
  readonly add = (): void => {
    this.#items += 1
    if (this.#isArmed) return
    this.#isArmed = true
    this.#clock.endOfTurn(this.#endOfTurn)
  }

  /** Sends now. */
  flush(): void {
    this.#paceItems += this.#items
    this.#items = 0
    this.#itemsBefore = 0
    this.#send()
  }

  #look(): void {
    if (this.#waitsForMore()) {
      this.#clock.endOfTurn(this.#endOfTurn)
      return
    }
    this.#isArmed = false
    this.flush()
  }

  #waitsForMore(): boolean {
    const nowMs = this.#clock.nowMs()
    const before = this.#itemsBefore
    if (before === 0) this.#firstMs = nowMs
    this.#itemsBefore = this.#items
    return (
      this.#paceIsFast(nowMs) &&
      this.#items > before &&
      this.#items < enoughItems &&
      nowMs - this.#firstMs < gatherMs
    )
  }

  #paceIsFast(nowMs: number): boolean {
    const passedMs = nowMs - this.#paceSinceMs
    if (passedMs < paceMs) return this.#isFast
    this.#isFast = (this.#paceItems + this.#items) / passedMs >= leastPace
    this.#paceSinceMs = nowMs
    this.#paceItems = -this.#items
    return this.#isFast
  }
}
