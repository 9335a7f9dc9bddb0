import { Cron as Pattern } from 'croner'

/** A start without an end (`5/15`) counts to the end of its field, as in Quartz and robfig/cron. */
const options = { mode: '5-or-6-parts', sloppyRanges: true } as const
/** The hour is the fourth field from the end. */
const hourField = -4
const dayMs = 24 * 60 * 60 * 1000

/**
 * Ticks of an entry. When clocks go back, a tick at a fixed hour comes the first time that hour is shown, and an hourly one
 * goes on as before; when they go forward, each skipped tick comes that much later.
 */
export class Schedule {
  readonly #text: string
  readonly #zoned: Pattern
  readonly #isOfEveryHour: boolean
  /** The zone's offset from UTC. */
  readonly #offsets: Intl.DateTimeFormat

  /** Throws croner's error for an invalid schedule. */
  constructor(text: string, timezone: string) {
    // Croner reads `?` as `*`, but takes a day field with it for one that limits the days.
    this.#text = text.replaceAll('?', '*')
    this.#zoned = new Pattern(this.#text, { ...options, timezone })
    this.#isOfEveryHour = text === '@hourly' || this.#text.trim().split(/\s+/).at(hourField) === '*'
    this.#offsets = new Intl.DateTimeFormat('en', {
      timeZone: timezone,
      timeZoneName: 'longOffset',
    })
  }

  /**
   * The first tick after a time, milliseconds since 1970; undefined for a schedule that is over.
   */
  nextAfter(ms: number): number | undefined {
    const inStep = this.#isOfEveryHour ? this.#inStep(ms) : undefined
    if (inStep !== undefined) return inStep
    const byTheClock = this.#byTheClock(ms)
    const skipped = this.#skippedAfter(ms)
    return skipped !== undefined && skipped < (byTheClock ?? Infinity) ? skipped : byTheClock
  }

  /** While clocks show an hour a second time, croner returns ticks of the first. */
  #byTheClock(ms: number): number | undefined {
    let next = timeOf(this.#zoned.nextRun(new Date(ms)))
    while (next !== undefined && next <= ms) next = timeOf(this.#zoned.nextRun(new Date(next)))
    return next
  }

  /** The tick at the current offset from UTC, or else at the offset of that time. */
  #inStep(ms: number): number | undefined {
    const now = offsetAt(this.#offsets, ms)
    const next = this.#withOffset(now, ms)
    if (next === undefined) return undefined
    const then = offsetAt(this.#offsets, next)
    if (then === now) return next
    const after = this.#withOffset(then, ms)
    return after !== undefined && offsetAt(this.#offsets, after) === then ? after : undefined
  }

  /** The next tick at a time that clocks skip, or have just skipped: it is counted as if they had not. Croner has the first. */
  #skippedAfter(ms: number): number | undefined {
    for (const from of [ms - dayMs, ms]) {
      const before = offsetAt(this.#offsets, from)
      const next = this.#withOffset(before, ms)
      if (next === undefined) continue
      const skippedMs = (offsetAt(this.#offsets, next) - before) * 60_000
      if (skippedMs > 0 && offsetAt(this.#offsets, next - skippedMs) === before) return next
    }
    return undefined
  }

  #withOffset(utcOffset: number, ms: number): number | undefined {
    return timeOf(new Pattern(this.#text, { ...options, utcOffset }).nextRun(new Date(ms)))
  }
}

function timeOf(date: Date | null): number | undefined {
  return date?.getTime()
}

/** Minutes east of UTC, from `11/21/2026, GMT+01:00` or `GMT`. */
function offsetAt(offsets: Intl.DateTimeFormat, ms: number): number {
  const [, sign, hours = 0, minutes = 0] =
    /GMT(?:([+-])(\d\d):(\d\d))?/.exec(offsets.format(ms)) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}
