import type { PauseNote } from '@crossgear/core-scheduler'
import type { Static } from '@sinclair/typebox'
import type { waitsFor } from '../../schemas/waits.ts'

/** Why something waits, as the API says it. */
export type Reason = NonNullable<Static<typeof waitsFor>>

/** Letters of a name from outside in a sentence. */
const shownLetters = 60

/** A reason. Times are milliseconds of the store's clock. */
export function reason(
  code: Reason['code'],
  text: string,
  more: {
    readonly sinceMs?: number | undefined
    readonly untilMs?: number | undefined
    readonly act?: NonNullable<Reason['act']>
  } = {},
): Reason {
  const { sinceMs, untilMs, act = null } = more
  return {
    code,
    text,
    since: sinceMs === undefined ? null : timeText(sinceMs),
    until: untilMs === undefined ? null : timeText(untilMs),
    act,
  }
}

/** A time in a sentence: of whole seconds. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** A name in a sentence. */
export function shortName(name: string): string {
  return name.length <= shownLetters ? name : `${name.slice(0, shownLetters)}…`
}

/** "by oscar since ..." as far as it is known. */
export function pausedWords(note: PauseNote | undefined): string {
  return note ? `paused by ${shortName(note.who)} since ${timeText(note.atMs)}` : 'paused'
}
