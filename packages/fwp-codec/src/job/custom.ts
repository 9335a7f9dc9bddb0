import { FwpError } from '../errors.ts'
import type { FwpJob } from './job.ts'
import { decodeString, scanObject } from './json-scan.ts'
import { parsePushedLater } from './pushed-later.ts'
import { parseRfc3339 } from './timestamp.ts'

/** Options in a job's `custom`. The server ignores all other fields. */
export interface CustomOptions {
  /** `expires_at` in Unix milliseconds. */
  readonly expiresAtMs?: number
  /** `expires_in` in milliseconds. */
  readonly expiresInMs?: number
  /** `unique_for` in milliseconds. */
  readonly uniqueForMs?: number
  readonly uniqueUntil?: 'start' | 'success'
  /** The batch that the job belongs to. */
  readonly bid?: string
  /** `on_death`: the job that is pushed when this one dies. Its jid means nothing. */
  readonly onDeath?: FwpJob
}

type Draft = { -readonly [Key in keyof CustomOptions]: CustomOptions[Key] }

/** Ten years. */
const maxMs = 315_576_000_000
const maxBidBytes = 64
/** Longest `on_death`, characters. */
const maxOnDeath = 16_384
const maxDurationCharacters = 100
const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** One reader per option. null counts as absent. */
const readers: Readonly<Record<string, (options: Draft, raw: string) => boolean>> = {
  expires_at(options, raw) {
    const ms = raw.startsWith('"') ? parseRfc3339(decodeString(raw)) : undefined
    if (ms !== undefined) options.expiresAtMs = ms
    return ms !== undefined
  },
  expires_in(options, raw) {
    const ms = parseDuration(textOf(raw))
    if (ms !== undefined) options.expiresInMs = ms
    return ms !== undefined
  },
  unique_for(options, raw) {
    const ms = parseDuration(textOf(raw))
    if (ms === undefined || ms === 0) return ms === 0
    options.uniqueForMs = ms
    return true
  },
  unique_until(options, raw) {
    const until = textOf(raw)
    if (until !== 'start' && until !== 'success') return false
    options.uniqueUntil = until
    return true
  },
  bid(options, raw) {
    const bid = textOf(raw)
    if (!isBid(bid)) return false
    options.bid = bid
    return true
  },
  on_death(options, raw) {
    if (!raw.startsWith('{')) return false
    if (raw.length > maxOnDeath) {
      throw new FwpError(
        'INVALID_CUSTOM',
        `custom 'on_death' has ${raw.length} characters, more than ${maxOnDeath}`,
      )
    }
    options.onDeath = parseOnDeath(raw)
    return true
  },
}

/** Parses the text of a job that is pushed when another one dies. Throws `INVALID_CUSTOM`. */
export function parseOnDeath(text: string): FwpJob {
  try {
    return parsePushedLater(text, () => 'on-death')
  } catch (error) {
    if (!(error instanceof FwpError)) throw error
    throw new FwpError('INVALID_CUSTOM', `invalid custom value for 'on_death': ${error.message}`)
  }
}

/** Parses the raw text of `custom`. Throws `INVALID_CUSTOM` for an invalid value. */
export function parseCustom(custom: string): CustomOptions {
  const options: Draft = {}
  const fields = scanObject(custom)
  for (const [name, read] of Object.entries(readers)) {
    const raw = fields.get(name)
    if (raw === undefined || raw === 'null') continue
    if (!read(options, raw)) {
      throw new FwpError(
        'INVALID_CUSTOM',
        `invalid custom value for '${name}': ${raw.slice(0, 100)}`,
      )
    }
  }
  return options
}

/**
 * Milliseconds of a number of seconds (`90`, `1.5`) or a text like `1h30m` (units ms, s, m, h and
 * d); undefined for any other text, above 100 characters, and above ten years.
 */
export function parseDuration(text: string): number | undefined {
  if (text.length > maxDurationCharacters) return undefined
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : sumOfParts(text)
  return ms !== undefined && ms <= maxMs ? Math.round(ms) : undefined
}

/** True for a valid batch id. */
export function isBid(name: string): boolean {
  return name.length <= maxBidBytes && /^[\w.-]+$/.test(name)
}

function sumOfParts(text: string): number | undefined {
  if (!/^(\d{1,12}(\.\d+)?(ms|[smhd]))+$/.test(text)) return undefined
  let ms = 0
  for (const [, count, , unit = ''] of text.matchAll(/(\d+(\.\d+)?)(ms|[smhd])/g)) {
    ms += Number(count) * (unitMs[unit] ?? 0)
  }
  return ms
}

function textOf(raw: string): string {
  return raw.startsWith('"') ? decodeString(raw) : raw
}
