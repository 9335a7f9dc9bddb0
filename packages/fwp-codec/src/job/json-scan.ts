import { FwpError } from '../errors.ts'

/** How deep arrays and objects may nest, the outermost counted. */
export const maxJsonDepth = 512

/** Most members of an object that is taken apart; objects inside it have no bound. */
export const maxJsonFields = 10_000

/** One member of a JSON object, as written. */
export interface RawField {
  /** The name, unescaped. */
  readonly key: string
  /** The name as written, with its quotes. */
  readonly rawKey: string
  /** The value's text as written, without the white space around it. */
  readonly value: string
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const minus = 0x2d
const plus = 0x2b
const dot = 0x2e
const zero = 0x30
const nine = 0x39
const openArray = 0x5b
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/**
 * `text.charCodeAt(at)` at one cost for all kinds of strings of the engine. Where they mix, a scan of 150 characters takes
 * 1.1 us, and not 3.6.
 */
const codeAt = Function.prototype.call.bind(
  (String.prototype as { readonly charCodeAt: unknown }).charCodeAt as () => number,
) as (text: string, at: number) => number

/**
 * The members of the single JSON object in `text`, in order, by unescaped name. Strict RFC 8259;
 * the last of equal names counts, in the place of the first. Throws `INVALID_JSON`.
 */
export function scanFields(text: string): Map<string, RawField> {
  const fields = new Map<string, RawField>()
  let at = skipSpace(text, 0)
  if (codeAt(text, at) !== openObject) throw notA('object', text, at)
  at = skipSpace(text, at + 1)
  if (codeAt(text, at) === closeObject) {
    expectEnd(text, at + 1)
    return fields
  }
  for (;;) {
    const keyEnd = scanString(text, at)
    const rawKey = text.slice(at, keyEnd)
    const key = decodeString(rawKey)
    const valueAt = afterColon(text, keyEnd)
    const valueEnd = scanValue(text, valueAt, 1)
    if (fields.size >= maxJsonFields) {
      throw new FwpError('INVALID_JSON', 'invalid JSON: too many fields')
    }
    fields.set(key, { key, rawKey, value: text.slice(valueAt, valueEnd) })
    at = skipSpace(text, valueEnd)
    const code = codeAt(text, at)
    if (code === closeObject) break
    if (code !== comma) throw unexpected(text, at)
    at = skipSpace(text, at + 1)
  }
  expectEnd(text, at + 1)
  return fields
}

/**
 * The values of the single JSON object in `text`: unescaped name to raw value text, in order. Strict RFC 8259, at most
 * {@link maxJsonDepth} deep and {@link maxJsonFields} wide; the last of equal names counts.
 *
 * @throws FwpError INVALID_JSON
 */
export function scanObject(text: string): Map<string, string> {
  const values = new Map<string, string>()
  for (const field of scanFields(text).values()) values.set(field.key, field.value)
  return values
}

/** The fields of an object with all names in lower case: the Faktory server takes names of known fields in any case. */
export function scanAnyCase(text: string): Map<string, string> {
  const values = new Map<string, string>()
  for (const { key, value } of scanFields(text).values()) values.set(key.toLowerCase(), value)
  return values
}

/** A JSON text without the white space between its values. The text has been scanned. */
export function compactJson(text: string): string {
  let compact = ''
  let from = 0
  for (let at = 0; at < text.length;) {
    if (codeAt(text, at) === quote) {
      at = scanString(text, at)
      continue
    }
    const next = skipSpace(text, at)
    if (next > at) {
      compact += text.slice(from, at)
      from = next
    }
    at = next > at ? next : at + 1
  }
  return compact + text.slice(from)
}

/**
 * The raw texts of the elements of the single JSON array in `text`, at most `maxElements`: the rest is checked and left
 * out. With `uncounted` the array itself does not count as depth.
 *
 * @throws FwpError INVALID_JSON
 */
export function scanArray(text: string, maxElements = Infinity, uncounted = false): string[] {
  const elements: string[] = []
  for (const element of scanElements(text, uncounted)) {
    if (elements.length < maxElements) elements.push(element)
  }
  return elements
}

/** The same one by one: what comes behind an element is checked later. */
export function* scanElements(text: string, uncounted = false): Generator<string, void> {
  let at = skipSpace(text, 0)
  if (codeAt(text, at) !== openArray) throw notA('array', text, at)
  at = skipSpace(text, at + 1)
  if (codeAt(text, at) === closeArray) {
    expectEnd(text, at + 1)
    return
  }
  for (;;) {
    const end = scanValue(text, at, uncounted ? 0 : 1)
    yield text.slice(at, end)
    at = skipSpace(text, end)
    const code = codeAt(text, at)
    if (code === closeArray) break
    if (code !== comma) throw unexpected(text, at)
    at = skipSpace(text, at + 1)
  }
  expectEnd(text, at + 1)
}

/**
 * The text of a raw JSON string (quotes included, already scanned). Half a surrogate pair
 * becomes U+FFFD, so that the text has one form in UTF-8.
 */
export function decodeString(raw: string): string {
  if (!raw.includes('\\')) return raw.slice(1, -1)
  return Buffer.from(JSON.parse(raw) as string, 'utf8').toString('utf8')
}

/** The index after the value that starts at `at`, inside `depth` arrays and objects. */
function scanValue(text: string, at: number, depth: number): number {
  const code = codeAt(text, at)
  switch (code) {
    case quote:
      return scanString(text, at)
    case openArray:
      return scanNested(text, at, depth + 1, closeArray)
    case openObject:
      return scanNested(text, at, depth + 1, closeObject)
    case 0x74:
      return scanWord(text, at, 'true')
    case 0x66:
      return scanWord(text, at, 'false')
    case 0x6e:
      return scanWord(text, at, 'null')
    default:
      return scanNumber(text, at)
  }
}

function scanNested(text: string, from: number, depth: number, close: number): number {
  if (depth > maxJsonDepth) throw new FwpError('INVALID_JSON', 'invalid JSON: nested too deep')
  let at = skipSpace(text, from + 1)
  if (codeAt(text, at) === close) return at + 1
  for (;;) {
    if (close === closeObject) at = afterColon(text, scanString(text, at))
    at = skipSpace(text, scanValue(text, at, depth))
    const code = codeAt(text, at)
    if (code === close) return at + 1
    if (code !== comma) throw unexpected(text, at)
    at = skipSpace(text, at + 1)
  }
}

function scanString(text: string, from: number): number {
  if (codeAt(text, from) !== quote) throw unexpected(text, from)
  let at = from + 1
  for (;;) {
    const code = codeAt(text, at)
    if (code === quote) return at + 1
    if (code === backslash) at = scanEscape(text, at + 1)
    // Past the end the code is NaN, which is not >= either.
    else if (code >= 0x20) at++
    else throw unexpected(text, at)
  }
}

function scanEscape(text: string, at: number): number {
  const letter = text.charAt(at)
  if (letter !== 'u') {
    if (letter === '' || !'"\\/bfnrt'.includes(letter)) throw unexpected(text, at)
    return at + 1
  }
  for (let digit = at + 1; digit <= at + 4; digit++) {
    const code = codeAt(text, digit)
    const lower = code | 0x20
    const isHex = (code >= zero && code <= nine) || (lower >= 0x61 && lower <= 0x66)
    if (!isHex) throw unexpected(text, digit)
  }
  return at + 5
}

function scanNumber(text: string, from: number): number {
  let at = from
  if (codeAt(text, at) === minus) at++
  // No digit may follow a leading zero; the caller then finds it where it expects a comma.
  at = codeAt(text, at) === zero ? at + 1 : scanDigits(text, at)
  if (codeAt(text, at) === dot) at = scanDigits(text, at + 1)
  if ((codeAt(text, at) | 0x20) === 0x65) {
    at++
    const sign = codeAt(text, at)
    if (sign === plus || sign === minus) at++
    at = scanDigits(text, at)
  }
  return at
}

function scanDigits(text: string, from: number): number {
  let at = from
  for (;;) {
    const code = codeAt(text, at)
    if (!(code >= zero && code <= nine)) break
    at++
  }
  if (at === from) throw unexpected(text, at)
  return at
}

function scanWord(text: string, at: number, word: string): number {
  if (!text.startsWith(word, at)) throw unexpected(text, at)
  return at + word.length
}

function afterColon(text: string, from: number): number {
  const at = skipSpace(text, from)
  if (codeAt(text, at) !== colon) throw unexpected(text, at)
  return skipSpace(text, at + 1)
}

function skipSpace(text: string, from: number): number {
  let at = from
  for (;;) {
    const code = codeAt(text, at)
    if (code !== 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return at
    at++
  }
}

function expectEnd(text: string, from: number): void {
  if (from === text.length) return
  const at = skipSpace(text, from)
  if (at < text.length) throw unexpected(text, at)
}

function notA(what: string, text: string, at: number): FwpError {
  if (at >= text.length) return unexpected(text, at)
  return new FwpError('INVALID_JSON', `invalid JSON: expected an ${what} at character ${at}`)
}

function unexpected(text: string, at: number): FwpError {
  if (at >= text.length) {
    return new FwpError('INVALID_JSON', 'invalid JSON: unexpected end of JSON input')
  }
  const found = JSON.stringify(text.charAt(at))
  return new FwpError('INVALID_JSON', `invalid JSON: unexpected ${found} at character ${at}`)
}
