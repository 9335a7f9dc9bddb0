/** Offset between the store's clock and this machine's, as of the last heartbeat. */
export class ClockOffset {
  #ms = 0

  /** The store's clock, milliseconds since 1970. */
  nowMs(): number {
    return Date.now() + this.#ms
  }

  learn(storeNowMs: number): void {
    this.#ms = storeNowMs - Date.now()
  }
}
