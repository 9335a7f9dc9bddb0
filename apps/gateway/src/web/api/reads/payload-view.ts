import { isUtf8 } from 'node:buffer'
import type { PayloadStart } from '@crossgear/core-scheduler'
import type { Static } from '@sinclair/typebox'
import { parseJson } from '../../../json.ts'
import type { bytesShown, payloadForms } from '../schemas/jobs.ts'

/** A longer payload is not read: only its size is said. Reading the start of one takes the store some 15 ms. */
export const shownPayloadBytes = 8 * 1024 * 1024

export type PayloadForm = (typeof payloadForms)[number]

/** Bytes as the API shows them, of which only the first may have been read; none: only their number is shown. */
export function viewOf(
  start: Buffer | undefined,
  sizeBytes: number,
  form: PayloadForm,
): Static<typeof bytesShown> {
  if (form === 'none' || !start) {
    return { size_bytes: sizeBytes, form: 'none', value: null, is_cut: sizeBytes > 0 }
  }
  const isCut = start.length < sizeBytes
  const rest = { size_bytes: sizeBytes, is_cut: isCut }
  if (form === 'json' || form === 'auto') {
    const json = isCut ? undefined : jsonOf(start)
    if (json) return { ...rest, form: 'json', value: json.value }
  }
  const text = textOf(start, isCut)
  if (form !== 'hex' && text !== undefined) return { ...rest, form: 'text', value: text }
  return { ...rest, form: 'hex', value: start.toString('hex') }
}

/** A Faktory job without its arguments: JSON, or its text where that is cut, too deep or no JSON; null without one. */
export function envelopeView({ bytes, start }: PayloadStart) {
  const isCut = bytes > (start?.length ?? 0)
  const text = start && bytes > 0 ? textOf(start, isCut) : undefined
  return {
    envelope: isCut ? (text ?? null) : jsonOrText(text),
    envelope_is_cut: isCut,
  }
}

/** A cut may be in the middle of a character. Undefined for what is no text. */
function textOf(start: Buffer, isCut: boolean): string | undefined {
  const whole = isCut ? wholeCharacters(start) : start
  return isUtf8(whole) ? whole.toString() : undefined
}

function jsonOrText(text: string | undefined): unknown {
  try {
    return text === undefined ? null : parseJson(text)
  } catch {
    return text
  }
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
