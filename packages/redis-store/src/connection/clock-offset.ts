import { machineClock, type MachineClock } from './machine-clock.ts'

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
