/** The clock of the machine that a node runs on. */
export interface MachineClock {
  /** The date of the machine, milliseconds since 1970. */
  nowMs(): number
}

export const machineClock: MachineClock = {
  nowMs: () => Date.now(),
}
