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
import { type Command, Option } from 'commander'
import { commandParser, type HelpOutput, parseWords } from '../cli/command-parser.ts'

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

interface Row {
  readonly flags: string
  readonly help: string
  readonly acts: readonly Act[]
  readonly read?: (text: string, before: unknown) => unknown
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
    flags: '--from <url>',
    help: 'the source of the jobs, in one of the forms of crossgear migrate --help',
    acts: all,
  },
  {
    flags: '--to <url>',
    help: 'the target: a --redis-url of the gateway (default: the store that crossgear would open here), or another server; of export: file:///new/file.ndjson',
    acts: all,
  },
  {
    flags: '--name <name>',
    help: 'name under which the store keeps the progress (default: made of the source)',
    acts: storing,
  },
  { flags: '--copy', help: 'leave the source as it is (the default)', acts: ['run'] },
  {
    flags: '--move',
    help: 'remove a job at the source when the target has it',
    acts: ['plan', 'run', 'verify'],
  },
  {
    flags: '--while-live',
    help: 'read a source whose server is running; changes made meanwhile may be missed',
    acts: reading,
  },
  { flags: '--dry-run', help: 'store nothing, remove nothing', acts: ['run'] },
  {
    flags: '--rate <n>',
    help: 'jobs a second at most',
    acts: ['plan', 'run'],
    read: positive('--rate'),
  },
  {
    flags: '--batch <n>',
    help: `jobs read and stored at once (default: ${defaultBatch}, at most ${maxBatch})`,
    acts: reading,
    read: batchOf,
  },
  {
    flags: '--states <list>',
    help: `of ${recordStates.join(', ')} (default: all)`,
    acts: reading,
    read: statesOf,
  },
  {
    flags: '--map <old=new[@queue]>',
    help: 'another name for a function, or another queue; may be repeated',
    acts: reading,
    read: collect,
  },
  {
    flags: '--only <function>',
    help: 'only this function; * stands for any characters; may be repeated',
    acts: reading,
    read: collect,
  },
  {
    flags: '--except <function>',
    help: 'all functions except this one; may be repeated',
    acts: reading,
    read: collect,
  },
  {
    flags: '--function <name>',
    help: 'the name of a function, where hyphens make keys ambiguous; may be repeated',
    acts: all,
    read: collect,
  },
  {
    flags: '--max-payload-bytes <n>',
    help: 'larger payloads stay at the source (default: 67108864)',
    acts: ['plan', 'run', 'verify'],
    read: positive('--max-payload-bytes'),
  },
  {
    flags: '--rejects <file>',
    help: 'file for the jobs that stay at the source',
    acts: ['run', 'export'],
  },
  {
    flags: '--journal <file>',
    help: 'file in which a run into another server notes what it sends; needed there, also to continue',
    acts: ['run'],
  },
  {
    flags: '--in-doubt <rule>',
    help: 'jobs that were sent to another server when the run before was killed: repeat (default; one may be done twice) or leave (one may be lost)',
    acts: ['run'],
    read: doubtRuleOf,
  },
  { flags: '--json', help: 'print JSON lines for programs', acts: all },
  {
    flags: '--config <file>',
    help: "the gateway's file: its routes say which queue is a function's home",
    acts: all,
  },
  {
    flags: '--data-dir <path>',
    help: "data folder of the gateway's private store, if there is no --to",
    acts: storing,
  },
  {
    flags: '--durability <level>',
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

/** The parser of `crossgear migrate`; it calls `run` with what is given. */
export function migrateProgram(out: HelpOutput, run: (given: MigrateArguments) => void): Command {
  const program = commandParser('crossgear migrate', out)
    .description('Moves jobs from other systems into a Crossgear store, and verifies them.')
    .addHelpText('after', helpAfter)
  for (const act of all) {
    const command = program
      .command(act)
      .description(descriptions[act])
      .addHelpText('after', helpAfter)
      .action((options: Options) => run(argumentsOf(act, options)))
    for (const row of rows) {
      if (!row.acts.includes(act)) continue
      const option = new Option(row.flags, row.help)
      command.addOption(row.read ? option.argParser(row.read) : option)
    }
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
  const { copy, move, whileLive, dryRun, json, ...rest } = options
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
