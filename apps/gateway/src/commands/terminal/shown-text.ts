/** Characters that could steer a terminal or reorder what it shows. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const unseenInText = /[^\P{Cc}\n]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** A name on one line: what cannot be seen is written as an escape. */
export function shownName(name: string): string {
  return name.replaceAll(unseen, escaped)
}

/** A text whose lines stay lines. */
export function shownText(text: string): string {
  return text.replaceAll(unseenInText, escaped)
}

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16)
  return short[character] ?? (code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`)
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const combining = /\p{M}/u

/** Columns that a text takes on a terminal. */
export function widthOf(text: string): number {
  let columns = 0
  for (const character of text) columns += columnsOf(character)
  return columns
}

function columnsOf(character: string): number {
  if (character < '\u0300') return 1
  return combining.test(character) ? 0 : wide.test(character) ? 2 : 1
}

/** A text of at most so many columns; `…` stands for what is left out. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let kept = ''
  let used = 0
  for (const character of text) {
    used += columnsOf(character)
    if (used > columns - 1) break
    kept += character
  }
  return columns > 0 ? `${kept}…` : ''
}

/** Units of a duration, each with how many seconds it has. */
const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const

/** `0.4s`, `12s`, `3m05s`, `2h10m`, `4d03h`. */
export function shownSeconds(seconds: number): string {
  if (seconds < 10) return `${Number(seconds.toFixed(1))}s`
  const whole = Math.floor(seconds)
  const at = Math.max(
    0,
    units.findIndex(([, size]) => whole >= size),
  )
  const [unit, size] = units[at] ?? units[0]
  const next = units[at + 1]
  const first = `${Math.floor(whole / size)}${unit}`
  if (!next) return first
  return `${first}${String(Math.floor((whole % size) / next[1])).padStart(2, '0')}${next[0]}`
}

/** How long ago a time was, as {@link shownSeconds}. `nowMs`: milliseconds since 1970. */
export function shownAge(time: string, nowMs: number): string {
  return shownSeconds(Math.max(0, nowMs - Date.parse(time)) / 1000)
}

/** The wait until a time that is to come. */
export function shownWait(time: string, nowMs: number): string {
  return shownSeconds(Math.max(0, Date.parse(time) - nowMs) / 1000)
}

/** A rate, rounded to useful digits. */
export function shownRate(perSecond: number): string {
  return perSecond >= 100 ? perSecond.toFixed(0) : perSecond.toFixed(1)
}
