import type { Clock } from '@crossgear/core-scheduler'

/** `closed`: requests flow. `open`: the target rests. `half-open`: one request finds out if it is well again. */
export type BreakerState = 'closed' | 'open' | 'half-open'

export interface BreakerLimits {
  /** Failures in a row after which the target rests. */
  readonly maxFailures: number
  readonly restMs: number
}

/** Lets a target rest after failures in a row, or for as long as it asks. */
export class CircuitBreaker {
  readonly #clock: Clock
  readonly #changed: (before: BreakerState) => void
  #limits: BreakerLimits
  #state: BreakerState = 'closed'
  #failures = 0
  #untilMs = 0
  #cancel: (() => void) | undefined
  #isStopped = false

  /** `changed` is called after each change of the state. */
  constructor(limits: BreakerLimits, clock: Clock, changed: (before: BreakerState) => void) {
    this.#limits = limits
    this.#clock = clock
    this.#changed = changed
  }

  get state(): BreakerState {
    return this.#state
  }

  /** Requests flow again. */
  configure(limits: BreakerLimits): void {
    this.#limits = limits
    this.#failures = 0
    this.#become('closed')
  }

  /** The target is well. An answer to a request from before its rest does not end it. */
  answered(): void {
    this.#failures = 0
    if (this.#state === 'half-open') this.#become('closed')
  }

  failed(): void {
    this.#failures += 1
    const isOver = this.#state === 'half-open' || this.#failures >= this.#limits.maxFailures
    if (this.#state !== 'open' && isOver) this.rest(this.#limits.restMs)
  }

  /** No request for so long; a longer rest stays. */
  rest(ms: number): void {
    const untilMs = this.#clock.nowMs() + ms
    if (this.#isStopped || (this.#state === 'open' && untilMs <= this.#untilMs)) return
    this.#failures = 0
    this.#untilMs = untilMs
    this.#cancel?.()
    this.#cancel = this.#clock.after(ms, () => this.#become('half-open'))
    this.#become('open')
  }

  /** For good: answers that are still to come change nothing. */
  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
  }

  #become(state: BreakerState): void {
    if (state !== 'open') this.#cancel?.()
    const before = this.#state
    this.#state = state
    if (before !== state) this.#changed(before)
  }
}
