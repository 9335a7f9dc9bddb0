import type { Answer } from './poster.ts'

/** Shortest and longest wait that a target may ask for, milliseconds. */
const minWaitMs = 1_000
const maxWaitMs = 3_600_000
/** Characters of a body that a message shows. */
const shownCharacters = 500

/** How long to wait before the next request, milliseconds: `Retry-After` in seconds or as a date, from a second to an hour. */
export function waitOf({ retryAfter }: Answer, usualMs: number, nowMs: number): number {
  const text = retryAfter?.trim() ?? ''
  const asked = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs
  const ms = Number.isNaN(asked) ? usualMs : asked
  return Math.min(maxWaitMs, Math.max(minWaitMs, ms))
}

/** `HTTP 500: ` and the beginning of the body, on one line. */
export function describe({ status, body }: Answer): string {
  const text = body
    .subarray(0, 4 * shownCharacters)
    .toString()
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, shownCharacters)
    .toWellFormed()
  return text === '' ? `HTTP ${status}` : `HTTP ${status}: ${text}`
}
