import { MigrationError } from '@crossgear/migration'
import type { Command } from 'commander'
import { commandParser, type HelpOutput, parseWords } from '../cli/command-parser.ts'

export type BackupAct = 'backup' | 'restore'

/** In place of a file: standard output, or standard input. */
export const standardStream = '-'

/** The checked command line. */
export interface BackupArguments {
  /** Of the backup. */
  readonly file: string
  readonly redisUrl?: string
  readonly dataDir?: string
  readonly config?: string
  readonly durability?: string
  readonly isJson: boolean
  /** Restores also into a store with jobs. */
  readonly isIntoUsed: boolean
}

interface Row {
  readonly flags: string
  readonly help: string
  readonly acts: readonly BackupAct[]
}

const both: readonly BackupAct[] = ['backup', 'restore']

/** One row per option. */
const rows: readonly Row[] = [
  {
    flags: '--to <file>',
    help: 'a new file; a name that ends in .gz is compressed; - is standard output',
    acts: ['backup'],
  },
  {
    flags: '--from <file>',
    help: 'a file of crossgear backup; - is standard input, compressed or not',
    acts: ['restore'],
  },
  {
    flags: '--redis-url <url>',
    help: 'the store (default: the one that crossgear would open here)',
    acts: both,
  },
  { flags: '--data-dir <path>', help: "the gateway's, if there is no --redis-url", acts: both },
  {
    flags: '--config <file>',
    help: "the gateway's settings file: its store, and its routes, which name the home queues",
    acts: both,
  },
  {
    flags: '--into-used',
    help: 'add the backup to a store that has jobs or settings already',
    acts: ['restore'],
  },
  {
    flags: '--durability <level>',
    help: 'store, fsync or replicas:n: how safe a job must be before the next ones are sent',
    acts: ['restore'],
  },
  { flags: '--json', help: 'print JSON lines for programs', acts: both },
]

const descriptions: Readonly<Record<BackupAct, string>> = {
  backup:
    'Writes all unfinished jobs and all settings of a store into a file, while gateways run on it.',
  restore:
    'Restores a backup into a store. If it is killed or stopped, the same command continues.',
}

const endings: Readonly<Record<BackupAct, string>> = {
  backup: '4 stopped: there is no backup',
  restore: '3 some jobs could not be restored, 4 stopped half way',
}

/** The parser of one of the two commands. */
export function backupProgram(act: BackupAct, out: HelpOutput): Command {
  const program = commandParser(`crossgear ${act}`, out)
    .description(descriptions[act])
    .addHelpText(
      'after',
      `\nExit codes: 0 done, 1 usage, 2 the store or the file cannot be reached,\n${endings[act]}.\n`,
    )
  for (const { flags, help, acts } of rows) if (acts.includes(act)) program.option(flags, help)
  return program
}

/** Parses the command line; undefined if only help was asked for. Throws a MigrationError. */
export function readBackupArguments(
  act: BackupAct,
  words: readonly string[],
  out: HelpOutput,
): BackupArguments | undefined {
  const program = backupProgram(act, out)
  const refusal = (line: string, cause: ErrorOptions) => new MigrationError('USAGE', line, cause)
  if (!parseWords(program, words, refusal)) return undefined
  const { to, from, json, intoUsed, ...rest } = program.opts<Options>()
  const file = act === 'backup' ? to : from
  if (file === undefined) {
    const option = act === 'backup' ? '--to' : '--from'
    throw new MigrationError('USAGE', `${act} needs ${option}: see crossgear ${act} --help.`)
  }
  return { ...rest, file, isJson: json === true, isIntoUsed: intoUsed === true }
}

interface Options {
  readonly to?: string
  readonly from?: string
  readonly json?: true
  readonly intoUsed?: true
  readonly redisUrl?: string
  readonly dataDir?: string
  readonly config?: string
  readonly durability?: string
}
