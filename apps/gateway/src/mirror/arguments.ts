import { MigrationError, serverTargetOf, type ServerTarget } from '@crossgear/migration'
import { Command, CommanderError } from 'commander'
import { maskStoreUrl, parseStoreUrl } from '../redis-server/store-address.ts'
import { type Place, placeOf } from './place.ts'

/** The checked command line. */
export interface MirrorArguments {
  /** A server that clients are passed on to, or the address of a store to copy jobs from. */
  readonly from: Place | { readonly store: string; readonly name: string }
  /** A Faktory server takes only copies of a store's jobs. */
  readonly to: Place | ServerTarget
  readonly config?: string
  readonly listen: Pick<Place, 'host' | 'port'>
  readonly functions?: ReadonlySet<string>
  readonly percent: number
  readonly mostOutstanding: number
  readonly timeoutMs: number
  readonly maxPayloadBytes: number
  readonly isJson: boolean
}

interface Given {
  readonly from?: string
  readonly to?: string
  readonly config?: string
  readonly listen: Pick<Place, 'host' | 'port'>
  readonly functions?: string[]
  readonly percent: number
  readonly outstanding: number
  readonly timeoutSeconds: number
  readonly maxPayloadBytes: number
  readonly json?: true
}

const here = 'gearman://127.0.0.1:4730'
const mostOutstanding = 100_000
const mostSeconds = 86_400
const mostPayloadBytes = 64 * 1024 * 1024

const HELP_AFTER = `
--from a Crossgear store (any --redis-url of the gateway's): jobs that come to it by any door, or straight to Redis, are
copied to --to, gearman://host:port or faktory://[:password@]host:port. No client is touched, and no door waits.
--from gearman://host:port: clients come to --listen. Their bytes go to that server and back, unchanged, and copies go to
the Gearman server of --to. What a copy brings goes to nobody. Each side needs workers of its own: a copied job is done twice.

Exit codes: 0 all results that were compared are equal, 1 usage, 2 a side cannot be reached at the start,
3 differences found. Ctrl-C or TERM ends it: no new clients, no more copies; it waits 10 s at most for results.
`

/** Parses `crossgear mirror ...`; undefined if only help was asked for. Throws a MigrationError. */
export function readArguments(
  words: readonly string[],
  out: { write(text: string): unknown },
): MirrorArguments | undefined {
  const program = new Command('crossgear mirror')
    .description('Submits copies of jobs to a second server, and compares the results.')
    .exitOverride()
    .allowExcessArguments(false)
    .configureOutput({
      outputError: () => undefined,
      writeOut: (text) => void out.write(text),
      writeErr: () => undefined,
    })
    .option(
      '--from <url>',
      `the server that does the clients' jobs, or a Crossgear store (default: ${here})`,
    )
    .option(
      '--config <file>',
      "with a store: the gateway's file, its routes say which queue is home",
    )
    .option(
      '--to <url>',
      `the server that copies go to (default: ${here}); one of both must be given`,
    )
    .option('--listen <[host:]port>', 'where clients come to', listenOf, {
      host: '127.0.0.1',
      port: 4731,
    })
    .option('--functions <list>', 'names with commas between them (default: all)', namesOf)
    .option(
      '--percent <n>',
      'how many of their jobs are copied, evenly, 0.01 to 100',
      percentOf,
      100,
    )
    .option(
      '--outstanding <n>',
      'copies without a result at most; more jobs are not copied, and counted',
      numberOf(mostOutstanding),
      1_000,
    )
    .option(
      '--timeout-seconds <n>',
      'how long two results are waited for',
      numberOf(mostSeconds),
      60,
    )
    .option(
      '--max-payload-bytes <n>',
      'longer jobs are not copied; of longer results this much and the length is compared',
      numberOf(mostPayloadBytes),
      1_048_576,
    )
    .option('--json', 'JSON lines for a program')
    .addHelpText('after', HELP_AFTER)
  try {
    program.parse(words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return undefined
    const message = error.message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ')
    const said = `${message.charAt(0).toUpperCase()}${message.slice(1)}`
    throw new MigrationError('USAGE', `${said}: see crossgear mirror --help.`, { cause: error })
  }
  return checked(program.opts<Given>())
}

function checked(given: Given): MirrorArguments {
  if (given.from === undefined && given.to === undefined) {
    throw new MigrationError('USAGE', 'mirror needs --from or --to: see crossgear mirror --help.')
  }
  const from = fromOf(given.from ?? here)
  const faktory = given.to?.startsWith('faktory:') === true ? serverTargetOf(given.to) : undefined
  const to = faktory ?? placeOf('--to', given.to ?? here)
  if ('name' in to && from.name === to.name) {
    throw new MigrationError('USAGE', `--from and --to are both ${to.name}.`)
  }
  if (faktory && !('store' in from)) {
    const why = 'its producers hear no results to compare'
    throw new MigrationError('USAGE', `--to a Faktory server needs a store as --from: ${why}.`)
  }
  return {
    ...{ from, to, listen: given.listen, percent: given.percent },
    ...(given.config !== undefined && { config: given.config }),
    ...(given.functions && { functions: new Set(given.functions) }),
    mostOutstanding: given.outstanding,
    timeoutMs: given.timeoutSeconds * 1000,
    maxPayloadBytes: given.maxPayloadBytes,
    isJson: given.json === true,
  }
}

function fromOf(address: string): MirrorArguments['from'] {
  return parseStoreUrl(address) === undefined
    ? placeOf('--from', address)
    : { store: address, name: maskStoreUrl(address) }
}

function listenOf(text: string): Pick<Place, 'host' | 'port'> {
  const [, host = '127.0.0.1', digits = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  if (digits === '' || port > 65_535) {
    throw new MigrationError('USAGE', `--listen is ${text}: give a port, or host:port.`)
  }
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port }
}

function namesOf(text: string): string[] {
  const names = text.split(',').filter((name) => name !== '')
  if (names.length > 0) return names
  throw new MigrationError('USAGE', '--functions is empty: give names with commas between them.')
}

function percentOf(text: string): number {
  const percent = Number(text)
  if (percent >= 0.01 && percent <= 100) return percent
  throw new MigrationError('USAGE', `--percent is ${text}: give 0.01 to 100.`)
}

function numberOf(most: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (Number.isSafeInteger(number) && number > 0 && number <= most) return number
    throw new MigrationError('USAGE', `${JSON.stringify(text)} is no number from 1 to ${most}.`)
  }
}
