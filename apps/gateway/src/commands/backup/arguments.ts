import { MigrationError } from '@crossgear/migration'
import { type HelpOutput, readForm } from '../cli/command-parser.ts'
import { type CommandForm, folderAndFile, type OptionRow } from '../../config/option-row.ts'

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

/** The store, of both commands. */
const storeOptions: readonly OptionRow[] = [
  {
    name: 'redisUrl',
    argument: 'url',
    help: 'the store (default: that of the gateway in the data folder)',
  },
  ...folderAndFile,
]

const json: OptionRow = { name: 'json', help: 'print JSON lines for programs' }

function exitCodes(ending: string): string {
  return `\nExit codes: 0 done, 1 usage, 2 the store or the file cannot be reached,\n${ending}.\n`
}

/** The two commands. */
export const backupForms: Readonly<Record<BackupAct, CommandForm>> = {
  backup: {
    words: ['backup'],
    summary:
      'Writes all unfinished jobs and all settings of a store into a file, while gateways run on it.',
    options: [
      {
        name: 'to',
        argument: 'file',
        help: 'a new file; a name that ends in .gz is compressed; - is standard output',
      },
      ...storeOptions,
      json,
    ],
    helpAfter: exitCodes('4 stopped: there is no backup'),
  },
  restore: {
    words: ['restore'],
    summary:
      'Restores a backup into a store. If it is killed or stopped, the same command continues.',
    options: [
      {
        name: 'from',
        argument: 'file',
        help: 'a file of crossgear backup; - is standard input, compressed or not',
      },
      ...storeOptions,
      {
        name: 'intoUsed',
        help: 'add the backup to a store that has jobs or settings already',
      },
      {
        name: 'durability',
        argument: 'level',
        help: 'store, fsync or replicas:n: how safe a job must be before the next ones are sent',
      },
      json,
    ],
    helpAfter: exitCodes('3 some jobs could not be restored, 4 stopped half way'),
  },
}

/** Parses the command line; undefined if only help was asked for. Throws a MigrationError. */
export function readBackupArguments(
  act: BackupAct,
  words: readonly string[],
  out: HelpOutput,
): BackupArguments | undefined {
  const refusal = (line: string, cause: ErrorOptions) => new MigrationError('USAGE', line, cause)
  const given = readForm(backupForms[act], words, out, refusal)
  if (!given) return undefined
  const { to, from, json, intoUsed, ...rest } = given as Options
  const file = act === 'backup' ? to : from
  if (file === undefined) {
    const option = act === 'backup' ? '--to' : '--from'
    throw new MigrationError('USAGE', `${act} needs ${option}: see crossgear ${act} --help.`)
  }
  return { ...rest, file, isJson: json === true, isIntoUsed: intoUsed === true }
}

interface Options extends Omit<BackupArguments, 'file' | 'isJson' | 'isIntoUsed'> {
  readonly to?: string
  readonly from?: string
  readonly json?: true
  readonly intoUsed?: true
}
