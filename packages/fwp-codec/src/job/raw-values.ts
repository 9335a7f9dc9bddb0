import { FwpError } from '../errors.ts'
import { decodeString, scanArray } from './json-scan.ts'

/**
 * Typed readers for one raw JSON value. `null` and a missing value are both undefined. Any other
 * type than the wanted one is INVALID_JSON, naming the field.
 */

/** True for a missing value and for null. */
export function isAbsent(raw: string | undefined): raw is undefined | 'null' {
  return raw === undefined || raw === 'null'
}

/** A string, unescaped. */
export function readString(name: string, raw: string | undefined): string | undefined {
  if (isAbsent(raw)) return undefined
  if (!raw.startsWith('"')) throw wrongType(name, 'a string')
  return decodeString(raw)
}

/** An integer written with digits only (no fraction, no exponent) that a double can hold. */
export function readInteger(name: string, raw: string | undefined): number | undefined {
  if (isAbsent(raw)) return undefined
  for (let at = raw.startsWith('-') ? 1 : 0; at < raw.length; at++) {
    const code = raw.charCodeAt(at)
    if (code < 0x30 || code > 0x39) throw wrongType(name, 'an integer')
  }
  const value = Number(raw)
  if (!Number.isSafeInteger(value)) throw wrongType(name, 'an integer')
  // Turns -0 into 0.
  return value + 0
}

/** The first `max` of a list of strings; a `null` in it is the empty string. */
export function readStrings(
  name: string,
  raw: string | undefined,
  max: number,
): string[] | undefined {
  if (isAbsent(raw)) return undefined
  if (!raw.startsWith('[')) throw wrongType(name, 'an array of strings')
  return scanArray(raw, max).map((element) => readString(name, element) ?? '')
}

/** The raw text of an object. */
export function readObject(name: string, raw: string | undefined): string | undefined {
  if (isAbsent(raw)) return undefined
  if (!raw.startsWith('{')) throw wrongType(name, 'an object')
  return raw
}

/** The raw text of an array. */
export function readArray(name: string, raw: string | undefined): string | undefined {
  if (isAbsent(raw)) return undefined
  if (!raw.startsWith('[')) throw wrongType(name, 'an array')
  return raw
}

/** The error of a value with another type than the wanted one. */
function wrongType(name: string, wanted: string): FwpError {
  return new FwpError('INVALID_JSON', `invalid JSON: ${name} must be ${wanted}`)
}
