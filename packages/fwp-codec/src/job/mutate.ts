import { FwpError } from '../errors.ts'
import { scanAnyCase } from './json-scan.ts'
import { readObject, readString, readStrings } from './raw-values.ts'
import { readArgument, refused } from '../verb-arguments.ts'

/** `MUTATE {"cmd", "target", "filter": {"jids", "regexp", "jobtype"}}` */
export interface Mutate {
  readonly operation: MutateOperation
  readonly target: MutateTarget
  readonly filter: MutateFilter
}

/** The operation of MUTATE on its jobs. */
export type MutateOperation = 'clear' | 'kill' | 'discard' | 'requeue'
/** The set of jobs that MUTATE changes. */
export type MutateTarget = 'scheduled' | 'retries' | 'dead'

/** Selects jobs: all without a filter, or by jid alone if jids are given. */
export type MutateFilter =
  | { readonly kind: 'all' }
  | {
      readonly kind: 'jids'
      /** At most 100000; a star stands for any text, in at most 100 of them. */
      readonly jids: readonly string[]
    }
  | {
      readonly kind: 'match'
      /** A Redis glob over the job's JSON, at most 1000 characters. */
      readonly glob?: string
      /** A star stands for any text. */
      readonly jobtype?: string
    }

const failure = { code: 'INVALID_MUTATE', text: 'invalid format', echoes: false } as const
const maxJids = 100_000
/** Each is compared with every job of the set. */
const maxJidPatterns = 100
/** Characters of the longest pattern: each 32 of them are a step for each character of a job. */
const maxPatternLength = 1_000
const operations: ReadonlySet<string> = new Set(['clear', 'kill', 'discard', 'requeue'])
const targets: ReadonlySet<string> = new Set(['scheduled', 'retries', 'dead'])

/**
 * Parses the argument of MUTATE. `clear` has no filter. Throws `INVALID_MUTATE` or `PATTERN_TOO_LONG`, then
 * `UNKNOWN_MUTATE_OPERATION`, then `UNKNOWN_MUTATE_TARGET`.
 */
export function parseMutate(argument: Buffer): Mutate {
  return readArgument(argument, failure, (fields) => {
    const operation = readString('cmd', fields.get('cmd')) ?? ''
    const target = readString('target', fields.get('target')) ?? ''
    const filter = readFilter(readObject('filter', fields.get('filter')))
    if (!isOperation(operation)) {
      throw new FwpError('UNKNOWN_MUTATE_OPERATION', 'unknown mutate operation')
    }
    if (!isTarget(target)) {
      throw new FwpError('UNKNOWN_MUTATE_TARGET', 'invalid target for mutation command')
    }
    return { operation, target, filter: operation === 'clear' ? { kind: 'all' } : filter }
  })
}

function readFilter(raw: string | undefined): MutateFilter {
  if (raw === undefined) return { kind: 'all' }
  const fields = scanAnyCase(raw)
  const jids = readStrings('jids', fields.get('jids'), maxJids + 1) ?? []
  const glob = readString('regexp', fields.get('regexp')) ?? ''
  const jobtype = readString('jobtype', fields.get('jobtype')) ?? ''
  if (jids.length > maxJids) throw refused('too many jids')
  const jidPatterns = jids.filter((jid) => jid.includes('*'))
  if (jidPatterns.length > maxJidPatterns) throw refused('too many jids with a star')
  for (const pattern of jidPatterns) checkPattern('a jid with a star', pattern)
  if (jids.length > 0) return { kind: 'jids', jids }
  checkPattern('regexp', glob)
  checkPattern('jobtype', jobtype)
  if (glob === '' && jobtype === '') return { kind: 'all' }
  return {
    kind: 'match',
    ...(glob === '' ? {} : { glob }),
    ...(jobtype === '' ? {} : { jobtype }),
  }
}

function checkPattern(name: string, pattern: string): void {
  if (pattern.length <= maxPatternLength) return
  const text = `${name} is too long: at most ${maxPatternLength} characters`
  throw new FwpError('PATTERN_TOO_LONG', text)
}

function isOperation(text: string): text is MutateOperation {
  return operations.has(text)
}

function isTarget(text: string): text is MutateTarget {
  return targets.has(text)
}
