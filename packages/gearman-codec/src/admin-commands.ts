import {
  adminReplies,
  formatInvalidArguments,
  formatUnknownCommand,
  type MaxQueueSizes,
} from './admin-replies.ts'

/** A command of the text protocol. */
export type AdminCommand =
  | { readonly command: PlainCommand }
  | { readonly command: 'cancel job'; readonly handle: string }
  | ({ readonly command: 'maxqueue'; readonly function: string } & MaxQueueSizes)
  | { readonly command: 'create function'; readonly function: string }
  | { readonly command: 'drop function'; readonly function: string }
  | { readonly command: 'shutdown'; readonly graceful: boolean }
  | { readonly command: 'error'; readonly reply: string }

/** Commands without arguments. */
export type PlainCommand =
  | 'version'
  | 'verbose'
  | 'getpid'
  | 'status'
  | 'prioritystatus'
  | 'workers'
  | 'show jobs'
  | 'show unique jobs'
  | 'show maxqueue'

/** Parses the words after a command; `typed`: the command as spelt, for the reply. */
type ArgumentReader = (args: readonly string[], typed: string) => AdminCommand

/** Commands by their first word. */
const commands = new Map<string, ArgumentReader>([
  ['version', plain('version')],
  ['verbose', plain('verbose')],
  ['getpid', plain('getpid')],
  ['status', plain('status')],
  ['prioritystatus', plain('prioritystatus')],
  ['workers', plain('workers')],
  ['show', readShow],
  ['cancel', readCancel],
  ['maxqueue', readMaxQueue],
  ['create', functionCommand('create function')],
  ['drop', functionCommand('drop function')],
  ['shutdown', readShutdown],
])

/**
 * Reads a line of the text protocol. Never throws: an unknown line is a command `error` with the reply. Spaces, not tabs, end
 * words, and one at the end begins an empty word; a NUL ends the line; surplus arguments of plain commands are ignored.
 */
export function parseAdminLine(line: string): AdminCommand {
  const nul = line.indexOf('\0')
  const words = (nul < 0 ? line : line.slice(0, nul)).split(' ')
  // A leading space makes the command empty, and so unknown.
  const typed = words[0] ?? ''
  const args = words.slice(1).filter((word, at, all) => word !== '' || at === all.length - 1)
  const read = commands.get(typed.toLowerCase())
  return read === undefined ? error(formatUnknownCommand(typed)) : read(args, typed)
}

function plain(command: PlainCommand): ArgumentReader {
  return () => ({ command })
}

/** `show jobs`, `show unique jobs` or `show maxqueue`, without further words. */
function readShow(args: readonly string[], typed: string): AdminCommand {
  if (args.length === 0) return error(formatUnknownCommand(typed))
  const what = args.join(' ').toLowerCase()
  if (what === 'jobs') return { command: 'show jobs' }
  if (what === 'unique jobs') return { command: 'show unique jobs' }
  if (what === 'maxqueue') return { command: 'show maxqueue' }
  return error(adminReplies.unknownShowArguments)
}

/** `cancel job HANDLE`, without further words. */
function readCancel(args: readonly string[], typed: string): AdminCommand {
  const [what, handle] = args
  if (what === undefined || handle === undefined) return error(formatUnknownCommand(typed))
  if (args.length > 2 || what.toLowerCase() !== 'job') return error(adminReplies.unknownError)
  return { command: 'cancel job', handle }
}

/** `maxqueue FUNCTION [SIZE | HIGH NORMAL LOW]`; two sizes count as none. */
function readMaxQueue(args: readonly string[], typed: string): AdminCommand {
  const [name, first, second, third] = args
  if (name === undefined) return error(formatInvalidArguments(typed))
  const high = queueSize(first)
  if (second === undefined) {
    return { command: 'maxqueue', function: name, high, normal: high, low: high }
  }
  if (third === undefined)
    return { command: 'maxqueue', function: name, high: 0, normal: 0, low: 0 }
  return {
    command: 'maxqueue',
    function: name,
    high,
    normal: queueSize(second),
    low: queueSize(third),
  }
}

/** `create function NAME` or `drop function NAME`, without further words. */
function functionCommand(command: 'create function' | 'drop function'): ArgumentReader {
  return (args, typed) => {
    const [what, name] = args
    if (args.length !== 2 || name === undefined || what?.toLowerCase() !== 'function') {
      return error(formatInvalidArguments(typed))
    }
    return { command, function: name }
  }
}

/** `shutdown [graceful]`; with any other argument it is unknown, and stops no server. */
function readShutdown(args: readonly string[], typed: string): AdminCommand {
  const how = args.join(' ').toLowerCase()
  if (how !== '' && how !== 'graceful') return error(formatUnknownCommand(typed))
  return { command: 'shutdown', graceful: how !== '' }
}

/** Leading digits count; anything else, zero and negative numbers are 0, no limit. */
function queueSize(text = ''): number {
  const size = Number.parseInt(text, 10)
  return size > 0 ? Math.min(size, Number.MAX_SAFE_INTEGER) : 0
}

function error(reply: string): AdminCommand {
  return { command: 'error', reply }
}
