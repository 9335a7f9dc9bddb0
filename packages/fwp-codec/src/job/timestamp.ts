const msPerDay = 86_400_000
const usPerSecond = 1_000_000
/** 0000-01-01T00:00:00Z and the first moment after year 9999, in Unix milliseconds. */
const firstMs = -62_167_219_200_000
const endMs = 253_402_300_800_000

const dash = 0x2d
const colon = 0x3a

/**
 * Parses an RFC 3339 timestamp (`2026-01-02T03:04:05.123456789+02:00`) to Unix milliseconds, rounded down. `T` and `Z` in
 * capitals, the zone is mandatory, no leap second. Undefined for any other text.
 */
export function parseRfc3339(text: string): number | undefined {
  const year = digits(text, 0, 4)
  const month = digits(text, 5, 2)
  const day = digits(text, 8, 2)
  const hour = digits(text, 11, 2)
  const minute = digits(text, 14, 2)
  const second = digits(text, 17, 2)
  const isDate = text.charCodeAt(4) === dash && text.charCodeAt(7) === dash && text[10] === 'T'
  const isTime = text.charCodeAt(13) === colon && text.charCodeAt(16) === colon
  if (!isDate || !isTime || year < 0 || month < 1 || month > 12 || day < 1) return undefined
  if (day > daysInMonth(year, month)) return undefined
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) {
    return undefined
  }
  let at = 19
  let ms = 0
  if (text[at] === '.') {
    const from = ++at
    for (let weight = 100; isDigit(text.charCodeAt(at)); at++, weight /= 10) {
      if (weight >= 1) ms += (text.charCodeAt(at) - 0x30) * weight
    }
    if (at === from) return undefined
  }
  const offsetMinutes = parseZone(text, at)
  if (offsetMinutes === undefined) return undefined
  const seconds = (hour * 60 + minute - offsetMinutes) * 60 + second
  return daysSinceEpoch(year, month, day) * msPerDay + seconds * 1000 + ms
}

/**
 * Formats Unix milliseconds as a UTC timestamp, `2026-01-02T03:04:05.123456Z`, with up to six digits of the second, as many
 * as needed (a double holds no more).
 *
 * @throws RangeError outside the years 0 to 9999
 */
export function formatRfc3339(ms: number): string {
  if (!(ms >= firstMs && ms < endMs)) throw new RangeError(`no timestamp: ${ms}`)
  let seconds = Math.floor(ms / 1000)
  let micros = Math.round((ms - seconds * 1000) * 1000)
  if (micros === usPerSecond) {
    seconds++
    micros = 0
  }
  const days = Math.floor(seconds / 86_400)
  const inDay = seconds - days * 86_400
  const time = [Math.floor(inDay / 3600), Math.floor(inDay / 60) % 60, inDay % 60]
  const clock = time.map((part) => pad(part, 2)).join(':')
  return `${formatDay(days)}T${clock}${formatFraction(micros)}Z`
}

function formatFraction(micros: number): string {
  return micros === 0 ? '' : `.${pad(micros, 6).replace(/0+$/, '')}`
}

/** Minutes east of UTC of the `Z`, `+hh:mm` or `-hh:mm` that ends the text. */
function parseZone(text: string, at: number): number | undefined {
  const sign = text[at]
  if (sign === 'Z') return text.length === at + 1 ? 0 : undefined
  if ((sign !== '+' && sign !== '-') || text.length !== at + 6) return undefined
  const hours = digits(text, at + 1, 2)
  const minutes = digits(text, at + 4, 2)
  if (text.charCodeAt(at + 3) !== colon) return undefined
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return undefined
  return (sign === '-' ? -1 : 1) * (hours * 60 + minutes)
}

/** The number in `count` digits from `from`, or -1. */
function digits(text: string, from: number, count: number): number {
  let value = 0
  for (let at = from; at < from + count; at++) {
    const code = text.charCodeAt(at)
    if (!isDigit(code)) return -1
    value = value * 10 + code - 0x30
  }
  return value
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/*
 * A date to its day number and back. A year that begins in March has its leap day last; its months follow the 153-days-in-5
 * rule. 719468: day number of 1970-01-01 from 0000-03-01; 146097: days of 400 years.
 */

function daysSinceEpoch(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1
  const era = Math.floor(marchYear / 400)
  const yearOfEra = marchYear - era * 400
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  const leapDays = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100)
  return era * 146_097 + yearOfEra * 365 + leapDays + dayOfYear - 719_468
}

function formatDay(daysFromEpoch: number): string {
  const days = daysFromEpoch + 719_468
  const era = Math.floor(days / 146_097)
  const dayOfEra = days - era * 146_097
  const leapDays =
    Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096)
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365)
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0')
}
