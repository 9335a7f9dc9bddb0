import { isBid } from './custom.ts'
import { FwpError } from '../errors.ts'
import type { FwpJob } from './job.ts'
import { parsePushedLater } from './pushed-later.ts'
import { readObject, readString } from './raw-values.ts'
import { echo } from '../text.ts'
import { readArgument, refused } from '../verb-arguments.ts'

/** `BATCH NEW {"description", "parent_bid", "success", "complete"}` or `BATCH OPEN|COMMIT|STATUS bid`. */
export type Batch =
  | {
      readonly subcommand: 'NEW'
      readonly description: string
      readonly parentBid?: string
      readonly success?: FwpJob
      readonly complete?: FwpJob
    }
  | { readonly subcommand: 'OPEN' | 'COMMIT' | 'STATUS'; readonly bid: string }

const failure = { code: 'INVALID_BATCH', text: 'invalid BATCH NEW', echoes: true } as const

/**
 * Parses the argument of BATCH; the sub-command may be in any case. A callback without a jid, or with null, gets one from
 * `newJid`; one without args an empty list.
 *
 * @throws FwpError INVALID_BATCH, and the errors of a PUSH of a callback
 */
export function parseBatch(argument: Buffer, newJid: () => string): Batch {
  const space = argument.indexOf(0x20)
  const end = space < 0 ? argument.length : space
  const subcommand = argument.toString('latin1', 0, Math.min(end, 16)).toUpperCase()
  const rest = argument.subarray(end + 1)
  if (subcommand === 'NEW') return parseNew(rest, newJid)
  const bid = rest.toString('latin1')
  if (isReference(subcommand) && isBid(bid)) return { subcommand, bid }
  throw new FwpError('INVALID_BATCH', `invalid BATCH ${echo(argument)}`)
}

function isReference(word: string): word is 'OPEN' | 'COMMIT' | 'STATUS' {
  return word === 'OPEN' || word === 'COMMIT' || word === 'STATUS'
}

function parseNew(argument: Buffer, newJid: () => string): Batch {
  const { description, parentBid, success, complete } = readArgument(
    argument,
    failure,
    (fields) => {
      const parent = readString('parent_bid', fields.get('parent_bid')) ?? ''
      if (parent !== '' && !isBid(parent)) throw refused('parent_bid is wrong')
      return {
        description: readString('description', fields.get('description')) ?? '',
        ...(parent === '' ? {} : { parentBid: parent }),
        success: readObject('success', fields.get('success')),
        complete: readObject('complete', fields.get('complete')),
      }
    },
  )
  return {
    subcommand: 'NEW',
    description,
    ...(parentBid === undefined ? {} : { parentBid }),
    ...(success === undefined ? {} : { success: parsePushedLater(success, newJid) }),
    ...(complete === undefined ? {} : { complete: parsePushedLater(complete, newJid) }),
  }
}
