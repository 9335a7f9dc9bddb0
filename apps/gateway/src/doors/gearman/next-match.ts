/** A moment as SUBMIT_JOB_SCHED names it; absent fields always match. In UTC, at every node. */
export interface Schedule {
  /** 0 to 59. */
  readonly minute?: number
  /** 0 to 23. */
  readonly hour?: number
  /** 1 to 31. */
  readonly dayOfMonth?: number
  /** 1 to 12. */
  readonly month?: number
  /** 0 to 6, from Monday. */
  readonly dayOfWeek?: number
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** A 29 February on a given weekday comes within 40 years, even across 2100. */
const maxMonths = 40 * 12 + 1

/** The packet's five fields in order, with their ranges. */
const fields = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'dayOfMonth', from: 1, to: 31 },
  { name: 'month', from: 1, to: 12 },
  { name: 'dayOfWeek', from: 0, to: 6 },
] as const satisfies readonly { name: keyof Schedule; from: number; to: number }[]

/** Reads the five arguments; undefined if one is out of range. Empty and `*` always match. */
export function readSchedule(args: readonly Buffer[]): Schedule | undefined {
  const schedule: { -readonly [Name in keyof Schedule]: number } = {}
  for (const [at, { name, from, to }] of fields.entries()) {
    const text = args[at]?.toString('latin1').trim() ?? ''
    if (text === '' || text === '*') continue
    const number = /^\d{1,2}$/.test(text) ? Number(text) : -1
    if (number < from || number > to) return undefined
    schedule[name] = number
  }
  return schedule
}

/**
 * Start of the first matching minute after `afterMs` (milliseconds since 1970); undefined for a day
 * that no year has.
 */
export function nextMatch(schedule: Schedule, afterMs: number): number | undefined {
  const firstMs = (Math.floor(afterMs / minuteMs) + 1) * minuteMs
  const first = new Date(firstMs)
  const firstMonth = first.getUTCFullYear() * 12 + first.getUTCMonth()
  for (let month = firstMonth; month < firstMonth + maxMonths; month += 1) {
    if (schedule.month !== undefined && (month % 12) + 1 !== schedule.month) continue
    for (const dayStartMs of daysOf(month, schedule)) {
      if (dayStartMs + dayMs <= firstMs) continue
      const found = matchWithinDay(schedule, Math.max(0, firstMs - dayStartMs))
      if (found !== undefined) return dayStartMs + found
    }
  }
  return undefined
}

/** Starts of a month's matching days. Months are counted from the year 0. */
function* daysOf(month: number, { dayOfMonth, dayOfWeek }: Schedule): Iterable<number> {
  for (let day = dayOfMonth ?? 1; day <= (dayOfMonth ?? 31); day += 1) {
    const start = new Date(Date.UTC(Math.floor(month / 12), month % 12, day))
    // The month has no such day.
    if (start.getUTCDate() !== day) return
    if (dayOfWeek === undefined || (start.getUTCDay() + 6) % 7 === dayOfWeek) yield start.getTime()
  }
}

/** Milliseconds into the day of the first match at or after `fromMs`. */
function matchWithinDay({ minute, hour }: Schedule, fromMs: number): number | undefined {
  const hours = hour === undefined ? Array.from({ length: 24 }, (_, at) => at) : [hour]
  for (const candidate of hours) {
    const startMs = candidate * hourMs
    const earliest = Math.max(0, Math.ceil((fromMs - startMs) / minuteMs))
    const found = minute === undefined || minute >= earliest ? (minute ?? earliest) : 60
    if (found < 60) return startMs + found * minuteMs
  }
  return undefined
}
