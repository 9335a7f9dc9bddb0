import { readArgument, refused } from './argument.ts'
import { FwpError } from './errors.ts'
import { readInteger, readString } from './raw-values.ts'
import { cutBytes, echo } from './text.ts'
import { parseRfc3339 } from './timestamp.ts'

/** `TRACK GET jid` or `TRACK SET {"jid", "percent", "desc", "reserve_until"}`. */
export type Track =
  | { readonly subcommand: 'GET'; readonly jid: string }
  | {
      readonly subcommand: 'SET'
      readonly jid: string
      /** 0 to 100. */
      readonly percent?: number
      /** At most 1000 bytes; more is cut. */
      readonly desc?: string
      /** Until when the job is to stay reserved, in Unix milliseconds. */
      readonly reserveUntilMs?: number
    }

const MAX_DESC_BYTES = 1_000
const FAILURE = { code: 'INVALID_TRACK', text: 'invalid TRACK SET', echoes: true } as const

/** The argument of TRACK; the sub-command's case does not count. Throws `INVALID_TRACK`. */
export function parseTrack(argument: Buffer): Track {
  const subcommand = argument.toString('latin1', 0, 4).toUpperCase()
  const rest = argument.subarray(4)
  if (subcommand === 'SET ') return parseSet(rest)
  const jid = rest.toString('utf8')
  if (subcommand === 'GET ' && jid !== '' && !jid.includes(' ')) return { subcommand: 'GET', jid }
  throw new FwpError('INVALID_TRACK', `invalid TRACK ${echo(argument)}`)
}

function parseSet(argument: Buffer): Track {
  return readArgument(argument, FAILURE, (fields) => {
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
      ...(desc === undefined ? {} : { desc: cutBytes(desc, MAX_DESC_BYTES) }),
      ...(reserveUntilMs === undefined ? {} : { reserveUntilMs }),
    }
  })
}
