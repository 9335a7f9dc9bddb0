import { FwpError, type FwpErrorCode } from './errors.ts'
import { scanAnyCase } from './job/json-scan.ts'
import { readInteger, readString, readStrings } from './job/raw-values.ts'
import { cutBytes, decodeText, echo } from './text.ts'
import { parseRfc3339 } from './job/timestamp.ts'

/** Errors of verbs with a JSON object as argument: code, text, and if it repeats the argument. */
const failures = {
  ACK: { code: 'INVALID_ACK', text: 'invalid ACK', echoes: true },
  BEAT: { code: 'INVALID_BEAT', text: 'invalid BEAT', echoes: true },
  FAIL: { code: 'INVALID_FAIL', text: 'invalid FAIL', echoes: true },
  TRACK: { code: 'INVALID_TRACK', text: 'invalid TRACK SET', echoes: true },
} as const

/**
 * Reads the JSON object that is a command's argument. Any fault (`read` may throw INVALID_JSON too)
 * becomes the command's one error: `text`, followed by the argument if `echoes`.
 */
export function readArgument<Result>(
  argument: Buffer,
  failure: { readonly code: FwpErrorCode; readonly text: string; readonly echoes: boolean },
  read: (fields: ReadonlyMap<string, string>) => Result,
): Result {
  try {
    return read(scanAnyCase(decodeText(argument)))
  } catch (error) {
    if (!(error instanceof FwpError) || error.code !== 'INVALID_JSON') throw error
    const text = failure.echoes ? `${failure.text} ${echo(argument)}` : failure.text
    throw new FwpError(failure.code, text, { cause: error })
  }
}

/** A refusal with a reason of its own, to throw inside `readArgument`. */
export function refused(reason: string): FwpError {
  return new FwpError('INVALID_JSON', `invalid JSON: ${reason}`)
}

/** `ACK {"jid": "...", "result": any}` */
export interface Ack {
  readonly jid: string
  /** Raw JSON text of `result`; undefined if missing or null. */
  readonly result?: string
}

/** The argument of ACK. Throws `INVALID_ACK`. */
export function parseAck(argument: Buffer): Ack {
  return readArgument(argument, failures.ACK, (fields) => {
    if (!fields.has('jid')) throw refused('jid is missing')
    const jid = readString('jid', fields.get('jid')) ?? ''
    const result = fields.get('result')
    return result === undefined || result === 'null' ? { jid } : { jid, result }
  })
}

/** `BEAT {"wid", "rss_kb", "current_state"}` */
export interface Beat {
  /** Empty if missing: no worker has that name. */
  readonly wid: string
  /** The worker's resident memory in KiB. */
  readonly rssKb?: number
  /** The worker's state, for instance `quiet` or `terminate`; never empty. */
  readonly currentState?: string
}

/** The argument of BEAT. Throws `INVALID_BEAT`. */
export function parseBeat(argument: Buffer): Beat {
  return readArgument(argument, failures.BEAT, (fields) => {
    const wid = readString('wid', fields.get('wid')) ?? ''
    const rssKb = readInteger('rss_kb', fields.get('rss_kb'))
    const currentState = readString('current_state', fields.get('current_state')) ?? ''
    return {
      wid,
      ...(rssKb === undefined ? {} : { rssKb }),
      ...(currentState === '' ? {} : { currentState }),
    }
  })
}

/** `FAIL {"jid", "errtype", "message", "backtrace": [...]}`, cut to what is kept. */
export interface Fail {
  readonly jid: string
  /** At most 100 bytes; `unknown` if blank. */
  readonly errtype: string
  /** At most 1000 bytes; `unknown` if blank. */
  readonly message: string
  /** At most 50 lines. */
  readonly backtrace: readonly string[]
}

const maxErrtypeBytes = 100
const maxMessageBytes = 1000
const maxBacktraceLines = 50

/** Parses the argument of FAIL. Throws `INVALID_FAIL`, or `MISSING_JID` if that alone is wrong. */
export function parseFail(argument: Buffer): Fail {
  return readArgument(argument, failures.FAIL, (fields) => {
    const jid = readString('jid', fields.get('jid')) ?? ''
    const errtype = readString('errtype', fields.get('errtype')) ?? ''
    const message = readString('message', fields.get('message')) ?? ''
    const backtrace = readStrings('backtrace', fields.get('backtrace'), maxBacktraceLines) ?? []
    if (jid === '') throw new FwpError('MISSING_JID', 'missing JID')
    return {
      jid,
      errtype: cutBytes(errtype.trim(), maxErrtypeBytes) || 'unknown',
      message: cutBytes(message.trim(), maxMessageBytes) || 'unknown',
      backtrace,
    }
  })
}

/** Most queue names in one command. */
const maxQueues = 1000

/** The words of `text` from `from` on, without repeats. Throws `TOO_MANY_QUEUES`. */
export function readQueueNames(text: string, from = 0): string[] {
  const names = new Set<string>()
  let words = 0
  for (let at = from; at < text.length;) {
    const space = text.indexOf(' ', at)
    const end = space === -1 ? text.length : space
    if (end > at) {
      if (++words > maxQueues) {
        throw new FwpError('TOO_MANY_QUEUES', `too many queues: at most ${maxQueues}`)
      }
      names.add(text.slice(at, end))
    }
    at = end + 1
  }
  return [...names]
}

/**
 * Parses the argument of `FETCH queue...`: the names in order, each once; `default` if there is none. A name that no queue
 * can have is kept, as a queue without jobs.
 *
 * @throws FwpError TOO_MANY_QUEUES above 1000
 */
export function parseFetch(argument: Buffer): string[] {
  const names = readQueueNames(argument.toString('utf8'))
  return names.length === 0 ? ['default'] : names
}

/** `QUEUE PAUSE|RESUME|REMOVE name...|*` or `QUEUE LATENCY name...`. */
export type QueueCommand =
  | {
      readonly subcommand: 'PAUSE' | 'RESUME' | 'REMOVE'
      /** Each once, in order; `*` is every queue. */
      readonly names: readonly string[] | '*'
    }
  | { readonly subcommand: 'LATENCY'; readonly names: readonly string[] }

const maxWordBytes = 64

/**
 * Parses the argument of QUEUE; the sub-command may be in any case. Throws `UNKNOWN_QUEUE_COMMAND`,
 * `NO_WILDCARD`, `MISSING_QUEUE`, `TOO_MANY_QUEUES`.
 */
export function parseQueueCommand(argument: Buffer): QueueCommand {
  const text = argument.toString('utf8')
  const space = text.indexOf(' ')
  const word = space === -1 ? text : text.slice(0, space)
  const subcommand = cutBytes(word, maxWordBytes).toUpperCase()
  switch (subcommand) {
    case 'PAUSE':
    case 'RESUME':
    case 'REMOVE': {
      const names = someNames(subcommand, text, word.length)
      return { subcommand, names: names[0] === '*' ? '*' : names }
    }
    case 'LATENCY': {
      const names = readQueueNames(text, word.length)
      if (names[0] === '*') {
        throw new FwpError('NO_WILDCARD', 'QUEUE LATENCY does not support wildcards')
      }
      return { subcommand, names }
    }
    default: {
      throw new FwpError('UNKNOWN_QUEUE_COMMAND', `no such QUEUE subcommand: ${subcommand}`)
    }
  }
}

function someNames(subcommand: string, text: string, from: number): string[] {
  const names = readQueueNames(text, from)
  if (names.length > 0) return names
  throw new FwpError('MISSING_QUEUE', `QUEUE ${subcommand} needs at least one queue`)
}

/** `TRACK GET jid` or `TRACK SET {"jid", "percent", "desc", "reserve_until"}`. */
export type Track =
  | { readonly subcommand: 'GET'; readonly jid: string }
  | {
      readonly subcommand: 'SET'
      readonly jid: string
      /** 0 to 100. */
      readonly percent?: number
      /** At most 1000 bytes; longer text is cut. */
      readonly desc?: string
      /** Extends the lease until then, Unix milliseconds. */
      readonly reserveUntilMs?: number
    }

const maxDescBytes = 1_000
/** Parses the argument of TRACK; the sub-command may be in any case. Throws `INVALID_TRACK`. */
export function parseTrack(argument: Buffer): Track {
  const subcommand = argument.toString('latin1', 0, 4).toUpperCase()
  const rest = argument.subarray(4)
  if (subcommand === 'SET ') return parseSet(rest)
  const jid = rest.toString('utf8')
  if (subcommand === 'GET ' && jid !== '' && !jid.includes(' ')) return { subcommand: 'GET', jid }
  throw new FwpError('INVALID_TRACK', `invalid TRACK ${echo(argument)}`)
}

function parseSet(argument: Buffer): Track {
  return readArgument(argument, failures.TRACK, (fields) => {
    const jid = readString('jid', fields.get('jid')) ?? ''
    const percent = readInteger('percent', fields.get('percent'))
    const desc = readString('desc', fields.get('desc'))
    const reserveUntil = readString('reserve_until', fields.get('reserve_until')) ?? ''
    const reserveUntilMs = reserveUntil === '' ? undefined : parseRfc3339(reserveUntil)
    if (jid === '') throw refused('jid is missing')
    if (percent !== undefined && (percent < 0 || percent > 100)) throw refused('percent is wrong')
    if (reserveUntil !== '' && reserveUntilMs === undefined) throw refused('reserve_until is wrong')
    return {
      subcommand: 'SET',
      jid,
      ...(percent === undefined ? {} : { percent }),
      ...(desc === undefined ? {} : { desc: cutBytes(desc, maxDescBytes) }),
      ...(reserveUntilMs === undefined ? {} : { reserveUntilMs }),
    }
  })
}
