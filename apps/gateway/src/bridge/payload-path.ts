/** Longer payloads are not read for a path, bytes: reading this much JSON takes under a millisecond. */
export const maxReadBytes = 64 * 1024
/** Names and places in a path. */
export const maxPathParts = 16

const openBrace = 0x7b
const openBracket = 0x5b

/** A text or a number of JSON. */
const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** Shorter numbers are exact when they are read. */
const exactDigits = 15

/** JSON with each long number as its text: read as a number, two of them may be one. */
export function parseExactly(json: string): unknown {
  const isLong = (text: string): boolean => text.length > exactDigits && !text.startsWith('"')
  return JSON.parse(json.replace(token, (text) => (isLong(text) ? `"${text}"` : text)))
}

/** The JSON of a payload; undefined for a long one, or one that is no object or list. */
export function readPayload(
  payload: Uint8Array,
  parse: (json: string) => unknown = JSON.parse,
): unknown {
  if (payload.length > maxReadBytes) return undefined
  const first = payload.find((byte) => byte > 0x20)
  if (first !== openBrace && first !== openBracket) return undefined
  try {
    return parse(Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString())
  } catch {
    return undefined
  }
}

/** The value at a path of member names and, in lists, places from 0; undefined where there is none. */
export function valueAt(json: unknown, path: readonly string[]): unknown {
  let value = json
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[part]
  }
  return value
}
