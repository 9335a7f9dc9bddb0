const whole = new Intl.NumberFormat('en-US')
const [short, exact] = [1, 3].map(
  (maximumFractionDigits) =>
    new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits }),
)

/** @param {number} number */
export function count(number) {
  return whole.format(number)
}

/**
 * A number for a tile: all digits up to a million.
 *
 * @param {number} number
 * @param {number} [digits] given where it is one of several that must differ
 */
export function brief(number, digits) {
  const large = digits === undefined ? short : exact
  return (Math.abs(number) < 1e6 ? whole : (large ?? whole)).format(number)
}

/**
 * @param {number} perSecond
 * @param {number} [digits] after the point; by its size where none are asked for
 */
export function rate(perSecond, digits = perSecond < 10 ? 1 : 0) {
  if (perSecond === 0) return '0/s'
  if (perSecond >= 100) return `${whole.format(Math.round(perSecond))}/s`
  return `${perSecond.toFixed(digits)}/s`
}

const steps = /** @type {const} */ ([
  [86_400, 'd', 3600, 'h'],
  [3600, 'h', 60, 'm'],
  [60, 'm', 1, 's'],
])

/**
 * A duration in its two largest units.
 *
 * @param {number} seconds
 * @param {number} [digits] after the point of seconds below a minute; by its size where none are asked for
 */
export function duration(seconds, digits = seconds < 10 ? 1 : 0) {
  const msDigits = Math.max(0, digits - 3)
  if (seconds * 1000 < 0.5 * 10 ** -msDigits) return '0 s'
  if (seconds < 1) return `${(seconds * 1000).toFixed(msDigits)} ms`
  if (seconds < 10 || (seconds < 60 && digits > 0)) return `${seconds.toFixed(digits)} s`
  const all = Math.round(seconds)
  for (const [size, unit, smaller, smallUnit] of steps) {
    if (all < size) continue
    const rest = Math.floor((all % size) / smaller)
    return `${Math.floor(all / size)}${unit}${rest === 0 ? '' : ` ${rest}${smallUnit}`}`
  }
  return `${all} s`
}

/**
 * How far a time is from now, in words.
 *
 * @param {string | null} time RFC 3339
 * @param {number} nowMs
 */
export function fromNow(time, nowMs) {
  const ms = time === null ? Number.NaN : Date.parse(time)
  if (Number.isNaN(ms)) return '–'
  const seconds = (ms - nowMs) / 1000
  if (Math.abs(seconds) < 1) return 'now'
  return seconds < 0 ? `${duration(-seconds)} ago` : `in ${duration(seconds)}`
}

/**
 * A time in the viewer's own zone, to the second.
 *
 * @param {string | null} time RFC 3339
 */
export function moment(time) {
  const at = time === null ? undefined : new Date(time)
  if (!at || Number.isNaN(at.getTime())) return '–'
  const two = (/** @type {number} */ part) => String(part).padStart(2, '0')
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}

const zoned = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' })

/**
 * A time in the viewer's own zone with the name of that zone, such as `GMT+1`.
 *
 * @param {string | null} time RFC 3339
 */
export function stamp(time) {
  const words = moment(time)
  if (time === null || words === '–') return words
  const zone = zoned.formatToParts(new Date(time)).find(({ type }) => type === 'timeZoneName')
  return `${words} ${zone?.value ?? ''}`
}

const byteUnits = /** @type {const} */ (['B', 'KiB', 'MiB', 'GiB', 'TiB'])

/** @param {number} size */
export function bytes(size) {
  let [value, unit] = [size, 0]
  while (value >= 1024 && unit < byteUnits.length - 1) {
    value /= 1024
    unit += 1
  }
  const digits = unit > 0 && value < 10 ? 1 : 0
  return `${value.toFixed(digits)} ${byteUnits[unit] ?? ''}`
}

/**
 * Why a job failed, in a line; a Gearman worker need not say it.
 *
 * @param {NonNullable<import('./types.d.ts').Job['error']>} error
 */
export function reasonOf({ type, message }) {
  if (message) return message
  return type === 'WORK_FAIL' ? 'WORK_FAIL, without a reason' : type || 'failed'
}

/**
 * @param {number} number
 * @param {string} one
 * @param {string} [many]
 */
export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`
}
