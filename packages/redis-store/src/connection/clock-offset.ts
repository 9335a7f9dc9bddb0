/** The clock of the machine that a node runs on. */
export interface MachineClock {
  /** The date of the machine, milliseconds since 1970. */
  nowMs(): number
}

export const machineClock: MachineClock = {
  nowMs: () => Date.now(),
}

/** Offset between the store's clock and this machine's, as of the last heartbeat. */
export class ClockOffset {
  readonly #machine: MachineClock
  #ms = 0

  constructor(machine: MachineClock = machineClock) {
    this.#machine = machine
  }

  /** The store's clock, milliseconds since 1970. */
  nowMs(): number {
    return this.#machine.nowMs() + this.#ms
  }

  learn(storeNowMs: number): void {
    this.#ms = storeNowMs - this.#machine.nowMs()
  }
}
