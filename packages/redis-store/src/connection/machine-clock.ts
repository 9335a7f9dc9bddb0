/** The clock of the machine that a node runs on. */
export interface MachineClock {
  /** Its date, milliseconds since 1970. */
  nowMs(): number
}

export const machineClock: MachineClock = {
  nowMs: () => Date.now(),
}
