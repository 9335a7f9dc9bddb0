/** The clocks of the machine that a node runs on. */
export interface MachineClock {
  /** Its date, milliseconds since 1970. */
  nowMs(): number
  /** A clock that only grows, milliseconds. */
  uptimeMs(): number
}

export const machineClock: MachineClock = {
  nowMs: () => Date.now(),
  uptimeMs: () => performance.now(),
}
