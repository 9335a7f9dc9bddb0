import { MigrationError, serverTargetOf, type ServerTarget } from '@crossgear/migration'
import { type HelpOutput, readForm } from '../cli/command-parser.ts'
import type { CommandForm } from '../../config/option-row.ts'
import { maskStoreUrl, parseStoreUrl } from '../../config/store-address.ts'
import { nameOf, type ServerAddress, serverAddressOf, type Protocol } from './server-address.ts'

/** The checked command line. */
export interface MirrorArguments {
  /** A server that clients are passed on to, or the address of a store to copy jobs from. */
  readonly from: ServerAddress | { readonly store: string; readonly name: string }
  readonly to: ServerAddress | ServerTarget
  readonly config?: string
  readonly listen: Pick<ServerAddress, 'host' | 'port'>
  readonly functions?: ReadonlySet<string>
  readonly percent: number
  readonly maxOutstanding: number
  readonly timeoutMs: number
  readonly maxPayloadBytes: number
  readonly isJson: boolean
}

interface Given {
  readonly from?: string
  readonly to?: string
  readonly config?: string
  readonly listen?: Pick<ServerAddress, 'host' | 'port'>
  readonly functions?: string[]
  readonly percent: number
  readonly outstanding: number
  readonly timeoutSeconds: number
  readonly maxPayloadBytes: number
  readonly json?: true
}

const here = { gearman: 'gearman://127.0.0.1:4730', faktory: 'faktory://127.0.0.1:7419' } as const
/** Clients come there where --listen says nothing. */
const usualListen = { gearman: 4731, faktory: 7421 } as const
const maxOutstanding = 100_000
const maxSeconds = 86_400
const maxPayloadBytes = 64 * 1024 * 1024

const helpAfter = `
--from a Crossgear store (any --redis-url of the gateway's): jobs that come to it by any door, or straight to Redis, are
copied to --to, gearman://host:port or faktory://[:password@]host:port. No client is touched, and no door waits.
--from gearman://host:port or faktory://host:port: clients come to --listen. Their bytes go to that server and back,
unchanged, and copies go to --to, a server of the same protocol (faktory://[:password@]host:port). Results of copies
are dropped. Each side needs workers of its own: a copied job is done twice.

Exit codes: 0 all results that were compared are equal, 1 usage, 2 a side cannot be reached at the start,
3 differences found. Ctrl-C or TERM ends it: no new clients, no more copies; it waits 10 s at most for results.
`

export const mirrorForm: CommandForm = {
  words: ['mirror'],
  summary: 'Submits copies of jobs to a second server, and compares the results.',
  options: [
    {
      name: 'from',
      argument: 'url',
      help: `the server that does the clients' jobs, or a Crossgear store (default: ${here.gearman})`,
    },
    {
      name: 'config',
      argument: 'file',
      help: "with a store: the gateway's file, its routes say which queue is home",
    },
    {
      name: 'to',
      argument: 'url',
      help: `the server that copies go to (default: ${here.gearman}, of Faktory ${here.faktory}); one of both must be given`,
    },
    {
      name: 'listen',
      argument: '[host:]port',
      read: listenOf,
      help: `where clients come to (default: 127.0.0.1:${usualListen.gearman}, of Faktory ${usualListen.faktory})`,
    },
    {
      name: 'functions',
      argument: 'list',
      read: namesOf,
      help: 'names with commas between them (default: all)',
    },
    {
      name: 'percent',
      argument: 'n',
      read: percentOf,
      usual: 100,
      help: 'how many of their jobs are copied, evenly, 0.01 to 100',
    },
    {
      name: 'outstanding',
      argument: 'n',
      read: numberOf(maxOutstanding),
      usual: 1_000,
      help: 'most copies without a result; further jobs are counted, not copied',
    },
    {
      name: 'timeoutSeconds',
      argument: 'n',
      read: numberOf(maxSeconds),
      usual: 60,
      help: 'time to wait for both results',
    },
    {
      name: 'maxPayloadBytes',
      argument: 'n',
      read: numberOf(maxPayloadBytes),
      usual: 1_048_576,
      help: 'longer jobs are not copied; of longer results this much and the length is compared',
    },
    { name: 'json', help: 'print JSON lines for programs' },
  ],
  helpAfter,
}

/** Parses `crossgear mirror ...`; undefined if only help was asked for. Throws a MigrationError. */
export function readArguments(
  words: readonly string[],
  out: HelpOutput,
): MirrorArguments | undefined {
  const refusal = (line: string, cause: ErrorOptions) => new MigrationError('USAGE', line, cause)
  const given = readForm(mirrorForm, words, out, refusal)
  return given && checked(given as unknown as Given)
}

function checked(given: Given): MirrorArguments {
  if (given.from === undefined && given.to === undefined) {
    throw new MigrationError('USAGE', 'mirror needs --from or --to: see crossgear mirror --help.')
  }
  const from = fromOf(given.from ?? here.gearman)
  const to = toOf(from, given.to)
  const port = 'store' in from ? usualListen.gearman : usualListen[from.protocol]
  return {
    from,
    to,
    percent: given.percent,
    listen: given.listen ?? { host: '127.0.0.1', port },
    ...(given.config !== undefined && { config: given.config }),
    ...(given.functions && { functions: new Set(given.functions) }),
    maxOutstanding: given.outstanding,
    timeoutMs: given.timeoutSeconds * 1000,
    maxPayloadBytes: given.maxPayloadBytes,
    isJson: given.json === true,
  }
}

function fromOf(address: string): MirrorArguments['from'] {
  if (parseStoreUrl(address) !== undefined) {
    return { store: address, name: maskStoreUrl(address) }
  }
  const protocol = protocolOf(address)
  if (protocol !== undefined) return serverAddressOf('--from', address, protocol)
  const forms = `a store's address, ${here.gearman} or ${here.faktory}`
  throw new MigrationError('USAGE', `--from is ${address}: give ${forms}.`)
}

/** Copies of clients' jobs go to a server of their protocol. */
function toOf(from: MirrorArguments['from'], given: string | undefined): MirrorArguments['to'] {
  const usual = 'store' in from ? here.gearman : here[from.protocol]
  const address = given ?? usual
  const protocol = protocolOf(address)
  if (!('store' in from) && protocol !== undefined && protocol !== from.protocol) {
    const why = `clients of ${from.name} speak ${from.protocol}; from a store, copies go to either`
    throw new MigrationError('USAGE', `--to is a ${protocol} server: ${why}.`)
  }
  const faktory = protocol === 'faktory' ? serverTargetOf(address) : undefined
  const to = faktory ?? serverAddressOf('--to', address, 'gearman')
  if (from.name === nameOf(to)) {
    throw new MigrationError('USAGE', `--from and --to are both ${from.name}.`)
  }
  return to
}

function protocolOf(address: string): Protocol | undefined {
  const scheme = /^[a-z]+(?=:)/.exec(address)?.[0]
  return scheme === 'gearman' || scheme === 'faktory' ? scheme : undefined
}

function listenOf(text: string): Pick<ServerAddress, 'host' | 'port'> {
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

function numberOf(max: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (Number.isSafeInteger(number) && number > 0 && number <= max) return number
    throw new MigrationError('USAGE', `${JSON.stringify(text)} is not a number from 1 to ${max}.`)
  }
}
