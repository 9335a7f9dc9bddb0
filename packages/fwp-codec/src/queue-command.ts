import { FwpError } from './errors.ts'
import { readQueueNames } from './queue-names.ts'
import { cutBytes } from './text.ts'

/** `QUEUE PAUSE|RESUME|REMOVE name...|*` or `QUEUE LATENCY name...`. */
export type QueueCommand =
  | {
      readonly subcommand: 'PAUSE' | 'RESUME' | 'REMOVE'
      /** Each once, in order; `*` is every queue. */
      readonly names: readonly string[] | '*'
    }
  | { readonly subcommand: 'LATENCY'; readonly names: readonly string[] }

const MAX_WORD_BYTES = 64

/**
 * The argument of QUEUE; the sub-command's case does not count. Throws `UNKNOWN_QUEUE_COMMAND`,
 * `NO_WILDCARD`, `MISSING_QUEUE`, `TOO_MANY_QUEUES`.
 */
export function parseQueueCommand(argument: Buffer): QueueCommand {
  const text = argument.toString('utf8')
  const space = text.indexOf(' ')
  const word = space === -1 ? text : text.slice(0, space)
  const subcommand = cutBytes(word, MAX_WORD_BYTES).toUpperCase()
  switch (subcommand) {
    case 'PAUSE':
    case 'RESUME':
    case 'REMOVE': {
      const names = someNames(subcommand, text, word.length)
      return { subcommand, names: names[0] === '*' ? '*' : names }
    }
    case 'LATENCY': {
      const names = someNames(subcommand, text, word.length)
      if (names[0] === '*') {
        throw new FwpError('NO_WILDCARD', 'QUEUE LATENCY does not support wildcards')
      }
      return { subcommand, names }
    }
    default: {
      const shown = cutBytes(word, MAX_WORD_BYTES)
      throw new FwpError('UNKNOWN_QUEUE_COMMAND', `no such QUEUE subcommand: ${shown}`)
    }
  }
}

function someNames(subcommand: string, text: string, from: number): string[] {
  const names = readQueueNames(text, from)
  if (names.length > 0) return names
  throw new FwpError('MISSING_QUEUE', `QUEUE ${subcommand} needs at least one queue`)
}
