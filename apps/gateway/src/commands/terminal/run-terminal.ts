import { CommanderError } from 'commander'
import { explained, unknownInHelp } from '../cli/command-parser.ts'
import type { ConfigSources } from '../../config/load-config.ts'
import { StartError } from '../../errors.ts'
import { ApiClient } from './api-client.ts'
import type { CommandContext, CommandRow, Given, TerminalOutput } from './command-row.ts'
import { commands } from './commands.ts'
import { gatewayAddress } from './gateway-address.ts'
import { terminalProgram } from './program.ts'
import { type ExitCode, exitCodes, type ExitName, TerminalError } from './terminal-error.ts'

export interface TerminalSurroundings extends TerminalOutput {
  readonly env: ConfigSources['env']
  /** Aborted when the user ends it; called by commands that go on until then. */
  readonly stopSignal: () => AbortSignal
}

/** Runs a command that asks a running gateway, and returns the exit code. */
export async function runTerminal(
  words: readonly string[],
  surroundings: TerminalSurroundings,
): Promise<ExitCode> {
  let exit: ExitName = 'done'
  const run = async (row: CommandRow, given: Given): Promise<void> => {
    exit = await row.run(contextOf(row, given, surroundings))
  }
  try {
    const program = terminalProgram(commands, run, surroundings)
    const unknown = unknownInHelp(program, words)
    if (unknown !== undefined) {
      const see = `see crossgear ${words[0] ?? ''} --help`
      throw new TerminalError('usage', `There is no command "${unknown}": ${see}.`)
    }
    await program.parseAsync(words, { from: 'user' })
    return exitCodes[exit]
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done
    const known = knownError(error, words)
    surroundings.stderr.write(`${known.message}\n`)
    return exitCodes[known.exit]
  }
}

function contextOf(
  { isLive, isOpen }: CommandRow,
  given: Given,
  { env, stopSignal, ...output }: TerminalSurroundings,
): CommandContext {
  const { stdout } = output
  const { url, user, ca } = given.options
  const signal = isLive ? stopSignal() : new AbortController().signal
  const address = gatewayAddress(
    {
      url: typeof url === 'string' ? url : undefined,
      user: typeof user === 'string' ? user : undefined,
      ca: typeof ca === 'string' ? ca : undefined,
    },
    { flags: given.flags, env },
    isOpen !== true,
  )
  return {
    ...output,
    env,
    given,
    signal,
    client: new ApiClient(address, signal),
    isJson: given.options['json'] === true,
    columns: columnsOf(stdout),
    print: (line) => void stdout.write(`${line}\n`),
  }
}

const usualColumns = 80

/** Nothing is cut where a program reads. A terminal of unknown width has 0. */
function columnsOf({ isTTY, columns }: NodeJS.WriteStream): number {
  return isTTY ? columns || usualColumns : Infinity
}

/** How a name that begins with a hyphen is given; empty where the command takes no names, or no such word was given. */
function hyphenHint(
  { code }: CommanderError,
  words: readonly string[],
  path: readonly string[],
): string {
  const row = commands.find((each) => each.words.every((word, at) => path[at] === word))
  const name = words.find((word) => /^-[^-]/.test(word))
  if (code !== 'commander.unknownOption' || name === undefined || !row?.arguments) return ''
  return `; a name that begins with a hyphen comes after "--" (crossgear ${row.words.join(' ')} -- ${name})`
}

/** Errors that a user can act on; any other is rethrown. */
function knownError(error: unknown, words: readonly string[]): TerminalError {
  if (error instanceof TerminalError) return error
  if (error instanceof StartError)
    return new TerminalError('usage', error.message, { cause: error })
  if (!(error instanceof CommanderError)) throw error
  const path = words.slice(0, 2).filter((word) => /^[a-z]+$/.test(word))
  const isWhole = commands.some((row) => row.words[0] === path[0] && row.words[1] === path[1])
  const see = `see ${['crossgear', ...path.slice(0, isWhole ? 2 : 1), '--help'].join(' ')}`
  const isUnknown = error.code === 'commander.excessArguments' && path[1] !== undefined
  const said =
    isUnknown && !isWhole
      ? `There is no command "${path.join(' ')}"`
      : explained(error).replace(/\.$/, '') + hyphenHint(error, words, path)
  return new TerminalError('usage', `${said}: ${see}.`, { cause: error })
}
