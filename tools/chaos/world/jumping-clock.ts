/**
 * Loaded before a gateway: its date jumps at each SIGUSR2, an hour ahead, an hour back and then
 * right again. Monotonic clocks are left alone.
 */
const hourMs = 3_600_000
const offsetsMs = [0, hourMs, -hourMs]
const trueNow = Date.now
let jumps = 0

process.on('SIGUSR2', () => (jumps += 1))

const now = (): number => trueNow() + offsetsMs[jumps % offsetsMs.length]!

globalThis.Date = class extends Date {
  constructor(...parts: [] | [number | string | Date]) {
    super(parts.length === 0 ? now() : parts[0])
  }

  static override now(): number {
    return now()
  }
} as DateConstructor
