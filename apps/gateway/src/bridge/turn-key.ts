import { createHash } from 'node:crypto'
import { maxTurnBytes, type NewJob } from '@crossgear/core-scheduler'
import { argsOfInput, type PayloadRule } from '@crossgear/fwp-codec'
import { maxReadBytes, parseExactly, readPayload, valueAt } from './payload-path.ts'

/** Payloads and Faktory jobs that are searched for the value, bytes. */
export const maxSearchedBytes = maxReadBytes

const uniquePrefix = 'unique-prefix:'
const pathForm = /^[\w-]{1,64}(\.[\w-]{1,64}){0,9}$/

/** The value by which a job takes turns; undefined for a job without one. */
export type TurnKey = (job: NewJob, rule: PayloadRule) => string | undefined

/** True for the `per` of a route. */
export function isTurnKey(per: unknown): per is string {
  if (typeof per !== 'string') return false
  return per.startsWith(uniquePrefix) ? isSeparator(separatorIn(per)) : pathForm.test(per)
}

/**
 * The key of `per`: `unique-prefix:<separator>`, or a path (`custom.tenant`, `args.0.tenant`, `tenant`) in a Faktory job, at
 * the other doors in the payload; `args` are those that a Faktory worker gets.
 */
export function turnKeyOf(per: string): TurnKey {
  if (per.startsWith(uniquePrefix)) {
    const separator = separatorIn(per)
    return ({ unique }) => bounded(prefixOf(unique, separator))
  }
  const [first = '', ...rest] = per.split('.')
  return (job, rule) => {
    const value =
      first === 'args' ? valueAt(argsOf(job, rule), rest) : valueAt(bodyOf(job), [first, ...rest])
    return bounded(value)
  }
}

const separatorIn = (per: string): string => per.slice(uniquePrefix.length)
const isSeparator = (text: string): boolean => text.length >= 1 && text.length <= 8

function prefixOf(unique: Uint8Array | undefined, separator: string): string | undefined {
  const text = Buffer.from(unique ?? []).toString('latin1')
  const at = text.indexOf(Buffer.from(separator).toString('latin1'))
  return at < 0 ? undefined : text.slice(0, at)
}

function argsOf({ input }: NewJob, rule: PayloadRule): unknown {
  return input.length > maxSearchedBytes ? undefined : parsed(argsOfInput(input, rule).args)
}

/** A Faktory job without its `args`, or the payload of another one. */
function bodyOf({ envelope, input }: NewJob): unknown {
  if (envelope === undefined) return readPayload(input, parseExactly)
  return envelope.length > maxSearchedBytes ? undefined : parsed(envelope)
}

function parsed(json: string): unknown {
  try {
    return parseExactly(json)
  } catch {
    return undefined
  }
}

/** A text, a number or a boolean as the store takes it: a long one by its digest. */
function bounded(value: unknown): string | undefined {
  if (!['string', 'number', 'boolean'].includes(typeof value)) return undefined
  const text = String(value)
  if (text === '') return undefined
  const isStorable = Buffer.byteLength(text) <= maxTurnBytes && !text.includes('\0')
  return isStorable ? text : createHash('sha256').update(text).digest('base64url')
}
