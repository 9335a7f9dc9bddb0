import {
  defaultBatch,
  type DoubtRule,
  doubtRules,
  MigrationError,
  maxBatch,
  type RecordState,
  recordStates,
  serverForms,
  sourceForms,
} from '@crossgear/migration'
import type { Command } from 'commander'
import { commandParser, type HelpOutput, parseWords, withForm } from '../cli/command-parser.ts'
import type { CommandForm, OptionRow } from '../../config/option-row.ts'

export type Act = 'plan' | 'run' | 'verify' | 'rollback' | 'export'

/** The checked command line. */
export interface MigrateArguments {
  readonly act: Act
  readonly from?: string
  readonly to?: string
  readonly name?: string
  readonly config?: string
  readonly dataDir?: string
  readonly durability?: string
  readonly rejects?: string
  /** Journal of a run into another server. */
  readonly journal?: string
  readonly inDoubt?: DoubtRule
  readonly isMove: boolean
  readonly isWhileLive: boolean
  readonly isStopped: boolean
  readonly isDryRun: boolean
  readonly isJson: boolean
  readonly rate?: number
  readonly batch?: number
  readonly maxPayloadBytes?: number
  readonly states?: readonly RecordState[]
  readonly map: readonly string[]
  readonly only: readonly string[]
  readonly except: readonly string[]
  readonly function: readonly string[]
}

/** An option, and the acts that take it. */
interface Row extends OptionRow {
  readonly acts: readonly Act[]
}

const all: readonly Act[] = ['plan', 'run', 'verify', 'rollback', 'export']
const reading: readonly Act[] = ['plan', 'run', 'verify', 'export']
const storing: readonly Act[] = ['plan', 'run', 'verify', 'rollback']
const collect = (text: string, before: unknown): unknown => [
  ...((before as string[] | undefined) ?? []),
  text,
]

/** One row per option. */
const rows: readonly Row[] = [
  {
    name: 'from',
    argument: 'url',
    help: 'the source of the jobs, in one of the forms of crossgear migrate --help',
    acts: all,
  },
  {
    name: 'to',
    argument: 'url',
    help: 'the target: a --redis-url of the gateway (default: the store of the gateway in the data folder), or another server; of export: file:///new/file.ndjson',
    acts: all,
  },
  {
    name: 'name',
    argument: 'name',
    help: 'name under which the store keeps the progress (default: made of the source)',
    acts: storing,
  },
  { name: 'copy', help: 'leave the source as it is (the default)', acts: ['run'] },
  {
    name: 'move',
    help: 'remove a job at the source when the target has it',
    acts: ['plan', 'run', 'verify'],
  },
  {
    name: 'whileLive',
    help: 'read a source whose server is running; changes made meanwhile may be missed',
    acts: reading,
  },
  {
    name: 'stopped',
    help: "the source's server is stopped, where that cannot be seen: processes or connections of other users",
    acts: reading,
  },
  { name: 'dryRun', help: 'store nothing, remove nothing', acts: ['run'] },
  {
    name: 'rate',
    argument: 'n',
    help: 'jobs a second at most',
    acts: ['plan', 'run'],
    read: positive('--rate'),
  },
  {
    name: 'batch',
    argument: 'n',
    help: `jobs read and stored at once (default: ${defaultBatch}, at most ${maxBatch})`,
    acts: reading,
    read: batchOf,
  },
  {
    name: 'states',
    argument: 'list',
    help: `of ${recordStates.join(', ')} (default: all)`,
    acts: reading,
    read: statesOf,
  },
  {
    name: 'map',
    argument: 'old=new[@queue]',
    help: 'another name for a function, or another queue; may be repeated',
    acts: reading,
    read: collect,
  },
  {
    name: 'only',
    argument: 'function',
    help: 'only this function; * stands for any characters; may be repeated',
    acts: reading,
    read: collect,
  },
  {
    name: 'except',
    argument: 'function',
    help: 'all functions except this one; may be repeated',
    acts: reading,
    read: collect,
  },
  {
    name: 'function',
    argument: 'name',
    help: 'the name of a function, where hyphens make keys ambiguous; may be repeated',
    acts: all,
    read: collect,
  },
  {
    name: 'maxPayloadBytes',
    argument: 'n',
    help: 'larger payloads stay at the source (default: 67108864)',
    acts: ['plan', 'run', 'verify'],
    read: positive('--max-payload-bytes'),
  },
  {
    name: 'rejects',
    argument: 'file',
    help: 'file for the jobs that stay at the source',
    acts: ['run', 'export'],
  },
  {
    name: 'journal',
    argument: 'file',
    help: 'file in which a run into another server notes what it sends; needed there, also to continue',
    acts: ['run'],
  },
  {
    name: 'inDoubt',
    argument: 'rule',
    help: 'jobs that were sent to another server when the run before was killed: repeat (default; one may be done twice) or leave (one may be lost)',
    acts: ['run'],
    read: doubtRuleOf,
  },
  { name: 'json', help: 'print JSON lines for programs', acts: all },
  {
    name: 'config',
    argument: 'file',
    help: "the gateway's file: its routes say which queue is a function's home",
    acts: all,
  },
  {
    name: 'dataDir',
    argument: 'path',
    help: "an existing data folder: the gateway's store runs there, or has its jobs there; if there is no --to",
    acts: storing,
  },
  {
    name: 'durability',
    argument: 'level',
    help: 'store, fsync or replicas:n: how safe a job must be before it is removed at the source',
    acts: ['run'],
  },
]

const descriptions: Readonly<Record<Act, string>> = {
  plan: 'read the source, change nothing, and say what a run would do',
  run: 'move the jobs; if killed or stopped, the same command continues',
  verify: 'compare each job of the source with its copy in the target',
  rollback: 'take back the jobs of a run that no worker has begun',
  export: 'write the jobs of the source into a file',
}

const helpAfter = `
--from is one of:
${sourceForms.map((form) => `  ${form}`).join('\n')}

--to is a Crossgear store, or another server, which keeps no notes of what came (--journal):
${serverForms.map((form) => `  ${form}`).join('\n')}

Exit codes: 0 done and equal, 1 usage, 2 a side cannot be reached, 3 differences or
rejected jobs, 4 stopped half way: the same command continues.
`

const whole: CommandForm = {
  words: ['migrate'],
  summary: 'Moves jobs from other systems into a Crossgear store, and verifies them.',
  helpAfter,
}

function actForm(act: Act): CommandForm {
  const options = rows.filter(({ acts }) => acts.includes(act))
  return { words: ['migrate', act], summary: descriptions[act], options, helpAfter }
}

/** The command, and each of its acts. */
export const migrateForms: readonly CommandForm[] = [whole, ...all.map(actForm)]

/** The parser of `crossgear migrate`; it calls `run` with what is given. */
function migrateProgram(out: HelpOutput, run: (given: MigrateArguments) => void): Command {
  const program = withForm(commandParser('crossgear migrate', out), whole)
  for (const act of all) {
    withForm(program.command(act), actForm(act)).action((options: Options) =>
      run(argumentsOf(act, options)),
    )
  }
  return program
}

/**
 * Parses `crossgear migrate ...`; undefined if only help was asked for. Throws a MigrationError.
 */
export function readArguments(
  words: readonly string[],
  out: HelpOutput,
): MigrateArguments | undefined {
  let found: MigrateArguments | undefined
  const program = migrateProgram(out, (given) => (found = given))
  const refusal = (line: string, cause: ErrorOptions) => new MigrationError('USAGE', line, cause)
  return parseWords(program, words, refusal) ? found : undefined
}

type Options = Readonly<Record<string, unknown>>

function argumentsOf(act: Act, options: Options): MigrateArguments {
  const { copy, move, whileLive, stopped, dryRun, json, ...rest } = options
  if (copy === true && move === true) {
    throw new MigrationError('USAGE', '--copy and --move exclude each other.')
  }
  const lists = { map: [], only: [], except: [], function: [] }
  return {
    ...lists,
    ...rest,
    act,
    isMove: move === true,
    isWhileLive: whileLive === true,
    isStopped: stopped === true,
    isDryRun: dryRun === true,
    isJson: json === true,
  }
}

function positive(option: string): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (Number.isSafeInteger(number) && number > 0) return number
    throw new MigrationError('USAGE', `${option} is ${text}: give a number above 0.`)
  }
}

function batchOf(text: string): number {
  const batch = positive('--batch')(text)
  if (batch <= maxBatch) return batch
  throw new MigrationError('USAGE', `--batch is ${batch}: at most ${maxBatch}.`)
}

function doubtRuleOf(text: string): DoubtRule {
  const rule = doubtRules.find((known) => known === text)
  if (rule) return rule
  throw new MigrationError('USAGE', `--in-doubt is ${text}: give ${doubtRules.join(' or ')}.`)
}

function statesOf(text: string): RecordState[] {
  return text.split(',').map((name) => {
    const state = recordStates.find((known) => known === name.trim())
    if (state) return state
    throw new MigrationError('USAGE', `--states has ${name}: give some of ${recordStates.join()}.`)
  })
}
