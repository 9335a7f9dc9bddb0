import { isUtf8 } from 'node:buffer'
import type { Static } from '@sinclair/typebox'
import { parseJson } from '../../../json.ts'
import type { bytesShown, payloadForms } from '../schemas/jobs.ts'

/** A longer payload is not read: only its size is said. */
export const shownPayloadBytes = 4 * 1024 * 1024

export type PayloadForm = (typeof payloadForms)[number]

/** Bytes as the API shows them, cut where they are longer than asked for. */
export function viewOf(
  bytes: Buffer | undefined,
  sizeBytes: number,
  form: PayloadForm,
  maxBytes: number,
): Static<typeof bytesShown> {
  if (form === 'none' || !bytes) {
    return { size_bytes: sizeBytes, form: 'none', value: null, is_cut: sizeBytes > 0 }
  }
  const shown = bytes.subarray(0, maxBytes)
  const isCut = shown.length < bytes.length
  const rest = { size_bytes: sizeBytes, is_cut: isCut }
  if (form === 'json' || form === 'auto') {
    const json = isCut ? undefined : jsonOf(bytes)
    if (json) return { ...rest, form: 'json', value: json.value }
  }
  // A cut may be in the middle of a character.
  const text = isCut ? wholeCharacters(shown) : shown
  if (form !== 'hex' && isUtf8(text)) return { ...rest, form: 'text', value: text.toString() }
  return { ...rest, form: 'hex', value: shown.toString('hex') }
}

/** Only what JSON alone says: a number that is not exact as a number is shown as text. */
function jsonOf(bytes: Buffer): { readonly value: unknown } | undefined {
  if (!isUtf8(bytes)) return undefined
  try {
    const value = parseJson(bytes.toString())
    return typeof value === 'object' && value !== null ? { value } : undefined
  } catch {
    return undefined
  }
}

const longestCharacter = 4

function wholeCharacters(bytes: Buffer): Buffer {
  for (let cut = 0; cut < longestCharacter; cut += 1) {
    const some = bytes.subarray(0, bytes.length - cut)
    if (isUtf8(some)) return some
  }
  return bytes
}
