import type { Static } from '@sinclair/typebox'
import { troubleCodes, troublesOfKind, type troubles } from '../../schemas/troubles.ts'

/** One thing that is wrong, as the API says it. */
export type Trouble = Static<typeof troubles>['troubles'][number]

/** The worst first, of each kind those that concern most jobs; and how many are left out. */
export function ordered(all: readonly Trouble[]): {
  readonly listed: readonly Trouble[]
  readonly more: number
} {
  const listed = troubleCodes.flatMap((code) =>
    all
      .filter((trouble) => trouble.code === code)
      .toSorted((one, other) => (other.jobs ?? 0) - (one.jobs ?? 0))
      .slice(0, troublesOfKind),
  )
  return { listed, more: all.length - listed.length }
}

/** A span of time in a sentence. */
export function spanText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}
