/** Milliseconds of the machine's monotonic clock: the same in all processes, whatever the date. */
export function nowMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}
