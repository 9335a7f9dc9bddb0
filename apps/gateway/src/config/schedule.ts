import { Cron as Pattern } from 'croner'

const mode = '5-or-6-parts'
/** The hour is the fourth field from the end. */
const hourField = -4

/**
 * Ticks of an entry. When clocks go back, a tick at a fixed hour comes the first time that hour is shown, and an hourly one
 * goes on as before; when they go forward, a skipped tick comes that much later.
 */
export class Schedule {
  readonly #text: string
  readonly #zoned: Pattern
  /** The zone's offset from UTC; only for hourly ticks. */
  readonly #offsets: Intl.DateTimeFormat | undefined

  /** Throws croner's error for an invalid schedule. */
  constructor(text: string, timezone: string) {
    this.#text = text
    this.#zoned = new Pattern(text, { timezone, mode })
    const isOfEveryHour = text === '@hourly' || text.trim().split(/\s+/).at(hourField) === '*'
    if (!isOfEveryHour) return
    this.#offsets = new Intl.DateTimeFormat('en', {
      timeZone: timezone,
      timeZoneName: 'longOffset',
    })
  }

  /**
   * The first tick after a time, milliseconds since 1970; undefined for a schedule that is over.
   */
  nextAfter(ms: number): number | undefined {
    return this.#inStep(ms) ?? this.#byTheClock(ms)
  }

  /** While clocks show an hour a second time, croner returns ticks of the first. */
  #byTheClock(ms: number): number | undefined {
    let next = timeOf(this.#zoned.nextRun(new Date(ms)))
    while (next !== undefined && next <= ms) next = timeOf(this.#zoned.nextRun(new Date(next)))
    return next
  }

  /** The tick at the current offset from UTC, or else at the offset of that time. */
  #inStep(ms: number): number | undefined {
    if (!this.#offsets) return undefined
    const now = offsetAt(this.#offsets, ms)
    const next = this.#withOffset(now, ms)
    if (next === undefined) return undefined
    const then = offsetAt(this.#offsets, next)
    if (then === now) return next
    const after = this.#withOffset(then, ms)
    return after !== undefined && offsetAt(this.#offsets, after) === then ? after : undefined
  }

  #withOffset(utcOffset: number, ms: number): number | undefined {
    return timeOf(new Pattern(this.#text, { utcOffset, mode }).nextRun(new Date(ms)))
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
