import { createHash } from 'node:crypto'

const millisPerSecond = 1_000
/** A retry comes N^4 + 15 s after the FAIL and up to 29 (N + 1) s more; a slow machine gets 3 s. */
const nextAt = (count: number): readonly [number, number] => [
  count ** 4 + 15,
  count ** 4 + 15 + 29 * (count + 1) + 3,
]

/** Fills the tokens of one case in what is sent, and compares them in what is heard. */
export class Tokens {
  readonly #password: string | undefined
  readonly #times = new Map<string, string>()
  readonly #nextTimes = new Map<string, string>()

  constructor(password: string | undefined) {
    this.#password = password
  }

  /** `hi`: the greeting of the connection, from which hashes are made. */
  filled(text: string, hi: string | undefined): string {
    return text.replaceAll(/<([^<>]+)>/g, (token, name: string) => {
      return this.#shared(name) ?? this.#hashed(name, hi) ?? token
    })
  }

  /** True if a reply is what the recording has, with `<time>` and the like in their places. */
  matches(expected: string, reply: string): boolean {
    const shared = expected.replaceAll(/<([^<>]+)>/g, (token, name: string) => {
      return this.#shared(name) ?? token
    })
    let at = 0
    const pieces = shared.split(wildcard)
    for (const [index, piece] of pieces.entries()) {
      if (piece.startsWith('<go:')) {
        // Words of another language, up to the end of the line or the text in which they stand.
        at = reply.length - pieces.slice(index + 1).join('').length
        continue
      }
      const pattern = patterns.find(([token]) => token.test(piece))?.[1]
      const found = pattern ? matchAt(pattern, reply, at) : piece
      if (found === undefined || !reply.startsWith(found, at)) return false
      const [, count] = /^<next_at (\d+)>$/.exec(piece) ?? []
      if (count !== undefined && !this.#isNextTime(reply, Number(count), found)) return false
      at += found.length
    }
    return at === reply.length
  }

  /** A job's next try is told twice as the same time. */
  #isNextTime(reply: string, count: number, text: string): boolean {
    const name = `${/"jid":"[^"]*"/.exec(reply)?.[0]} ${count}`
    const known = this.#nextTimes.get(name)
    if (known !== undefined) return known === text
    this.#nextTimes.set(name, text)
    const seconds = (Date.parse(text) - Date.now()) / millisPerSecond
    const [min, max] = nextAt(count)
    // The FAIL was a moment ago.
    return seconds > min - 3 && seconds <= max
  }

  /** Tokens that stand for the same text in what is sent and heard. */
  #shared(name: string): string | undefined {
    const repeated = /^(.)\*(\d+)$/.exec(name)
    if (repeated) return repeated[1]?.repeat(Number(repeated[2]))
    const time = /^now([+-]\d+)(?: (nanos|millis|\+02:00))?$/.exec(name)
    if (!time) return undefined
    const text = this.#times.get(name) ?? timeText(Number(time[1]), time[2])
    this.#times.set(name, text)
    return text
  }

  #hashed(name: string, hi = ''): string | undefined {
    const word = /^(pwdhash|PWDHASH)( 1| of other)?$/.exec(name)
    if (!word) return undefined
    const { s = '', i = 1 } = JSON.parse(hi.replace(/^\+HI /, '')) as { s?: string; i?: number }
    const password = word[2] === ' of other' ? 'other' : (this.#password ?? '')
    let hash = createHash('sha256').update(`${password}${s}`).digest()
    const rounds = word[2] === ' 1' ? 1 : i
    for (let round = 1; round < rounds; round += 1)
      hash = createHash('sha256').update(hash).digest()
    const hex = hash.toString('hex')
    return word[1] === 'PWDHASH' ? hex.toUpperCase() : hex
  }
}

function timeText(offsetSeconds: number, form: string | undefined): string {
  const wholeMs = Math.floor(Date.now() / millisPerSecond + offsetSeconds) * millisPerSecond
  const seconds = (ms: number): string => new Date(ms).toISOString().slice(0, 19)
  if (form === 'nanos') return `${seconds(wholeMs)}.123456789Z`
  if (form === 'millis') return `${seconds(wholeMs)}.5Z`
  if (form === '+02:00') return `${seconds(wholeMs + 7_200_000)}+02:00`
  return `${seconds(wholeMs)}Z`
}

/** The tokens of replies; what is between them is compared as it stands. */
const wildcard = /(<time>|<next_at \d+>|<go:[^>]*>|"<int>"|"<number>"|"<seconds>"|<hex>|<hh:mm:ss>)/
const timePattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/y
const patterns: readonly (readonly [token: RegExp, pattern: RegExp])[] = [
  [/^<(?:time|next_at \d+)>$/, timePattern],
  [/^"<(?:int|number|seconds)>"$/, /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y],
  [/^<hex>$/, /[0-9a-f]+/y],
  [/^<hh:mm:ss>$/, /\d\d:\d\d:\d\d/y],
]

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}
