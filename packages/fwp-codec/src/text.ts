/** Most bytes of a peer's input that an error text repeats. */
const maxEchoBytes = 1024

/**
 * A line longer than this is worth a copy, so that a kept jid does not keep the whole line alive.
 */
const longText = 1024

/** Longest text that is looked at for `null` alone: white space around it is rare. */
const longestNull = 64

/**
 * The text of a JSON argument, as the Faktory server reads it: bytes that are not UTF-8 become U+FFFD, and `null` is
 * `empty`.
 */
export function decodeText(bytes: Buffer, empty: '{}' | '[]' = '{}'): string {
  const text = bytes.toString('utf8')
  return text.length <= longestNull && text.trim() === 'null' ? empty : text
}

const escapes =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|[^])/g
const surrogateEscape = /\\u[dD][89a-fA-F]/

/**
 * A JSON text in which each escape of half a surrogate pair is U+FFFD, as the Faktory server hands it out: stock workers
 * refuse the whole job for one.
 */
export function withWholeCharacters(text: string): string {
  if (!surrogateEscape.test(text)) return text
  return text.replace(escapes, (escape) => {
    return escape.length === 6 && surrogateEscape.test(escape) ? '\ufffd' : escape
  })
}

/** The first `maxBytes` bytes of a text, never half a character. */
export function cutBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  // A character takes at least one byte: characters after `maxBytes` cannot count.
  const bytes = Buffer.from(text.slice(0, maxBytes + 1), 'utf8')
  if (bytes.length <= maxBytes) return bytes.toString('utf8')
  let end = maxBytes
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

/** A peer's argument, shortened for an error text. */
export function echo(bytes: Buffer): string {
  return cutBytes(bytes.toString('utf8', 0, maxEchoBytes), maxEchoBytes)
}

/** True if a text has more than `maxBytes` bytes in UTF-8; counts only where it may. */
export function exceedsBytes(text: string, maxBytes: number): boolean {
  if (text.length * 3 <= maxBytes) return false
  return text.length > maxBytes || Buffer.byteLength(text) > maxBytes
}

/** A short text cut from a long one, as a string of its own. */
export function detach(text: string, from: string): string {
  return from.length <= longText ? text : Buffer.from(text, 'utf8').toString('utf8')
}
