/** Timers, so that tests can move time by hand. */
export interface Clock {
  /** Monotonic milliseconds; only differences mean anything. */
  nowMs(): number
  /** Runs `task` after `ms`; the returned function cancels it. */
  after(ms: number, task: () => void): () => void
  /** Runs `task` at the end of this turn of the event loop. */
  endOfTurn(task: () => void): void
}

/** The store's time, as far as this node knows it. */
export interface StoreClock {
  /** Milliseconds since 1970. */
  storeNowMs(): number
}
