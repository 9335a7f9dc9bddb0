import { Help } from 'commander'
import type { CommandForm, OptionRow } from '../../config/option-row.ts'
import { formatItem, helpWidth } from '../cli/help-layout.ts'

/** The guide for moving jobs from gearmand's queues. */
export const movingGuide = 'docs/migrate/from-gearmand.md'

/** Queue types of gearmand's builds; it ignores their case. */
const queueTypes: ReadonlySet<string> = new Set([
  'builtin',
  'libdrizzle',
  'libmemcached',
  'libsqlite3',
  'libtokyocabinet',
  'mysql',
  'postgres',
  'redis',
])

export function isQueueType(type: string): boolean {
  return queueTypes.has(type.toLowerCase())
}

/** Options with a value, by the queue type that their names begin with. */
const valuesOfTypes = {
  libdrizzle: ['db', 'host', 'password', 'port', 'table', 'uds', 'user'],
  libmemcached: ['prefix', 'servers'],
  libpq: ['conninfo', 'table'],
  libsqlite3: ['db', 'table'],
  libtokyocabinet: ['file'],
  mysql: ['db', 'host', 'password', 'table', 'user'],
  redis: ['password', 'port', 'prefix', 'server'],
}
const withValue = Object.entries(valuesOfTypes).flatMap(([type, names]) =>
  names.map((name) => `${type}-${name}`),
)
const withNumber = ['mysql-port']
const text = { argument: 'arg' } as const
const file = { argument: 'file' } as const
const number = { argument: 'number' } as const

const alone = ['libdrizzle-mysql', 'libtokyocabinet-optimize', 'store-queue-on-shutdown']

/** Options of gearmand's persistent queues. */
export const queueOptions: readonly GearmandOption[] = [
  ...withValue.map((name) => ({ name, ...(name.endsWith('-file') ? file : text) })),
  ...withNumber.map((name) => ({ name, ...number })),
  ...alone.map((name) => ({ name })),
].map((option) => ({ ...option, effect: 'queue', help: 'No effect: jobs are in the store.' }))

/** Why an option of gearmand has no effect here. */
export type Effect =
  /** The option has an effect. */
  | 'some'
  /** The option belongs to gearmand's persistent queues. */
  | 'queue'
  | { readonly none: string }

/** An option of gearmand's command line. */
export interface GearmandOption extends OptionRow {
  readonly argument?: 'arg' | 'file' | 'number'
  readonly effect: Effect
}

function some(name: string, help: string, more: Partial<GearmandOption> = {}): GearmandOption {
  return { name, help, effect: 'some', ...more }
}

function none(name: string, reason: string, more: Partial<GearmandOption> = {}): GearmandOption {
  return { name, help: `No effect: ${reason}.`, effect: { none: reason }, ...more }
}

const ofTheSystem = 'Node asks ten times, one second apart'

/**
 * Every option of gearmand 1.1.20, of its queue types in other builds, and the version to behave
 * as.
 */
export const gearmandOptions: readonly GearmandOption[] = [
  some('backlog', 'Connections that may wait to be accepted (default 1024).', {
    short: 'b',
    ...number,
  }),
  some('daemon', 'Run in the background; returns when the port is open.', { short: 'd' }),
  some('exceptions', 'Clients get exceptions without asking for them.'),
  some('file-descriptors', 'Connections at a time.', { short: 'f', ...number }),
  some('gearmand-version', 'The gearmand to behave as: 1.1 (default) or 2.0.', text),
  some('help', 'Print this help.', { short: 'h' }),
  some(
    'job-retries',
    'The lost worker at which a job is given up; 0 (default): none. As 2.0: 0 at the first, -1 (default) none.',
    {
      short: 'j',
      ...number,
    },
  ),
  some('job-handle-prefix', 'Prefix of handles (default H:<host name>).', text),
  none('hashtable-buckets', 'jobs are in the store', number),
  none('keepalive', 'TCP keepalive is always on'),
  some('keepalive-idle', 'Idle seconds before TCP probes a peer (default 60).', number),
  none('keepalive-interval', ofTheSystem, number),
  none('keepalive-count', ofTheSystem, number),
  some('log-file', 'File for the log, stderr or none (default /var/log/gearmand.log).', {
    short: 'l',
    ...file,
  }),
  some('listen', 'Address to listen on (default: all).', { short: 'L', ...text }),
  some('pid-file', 'File for the process id (default /var/gearmand.pid).', { short: 'P', ...file }),
  some('protocol', 'Open another door as well: http.', { short: 'r', ...text }),
  some('round-robin', 'Give a worker jobs of its functions in turn (as 2.0: always).', {
    short: 'R',
  }),
  { name: 'queue-type', short: 'q', ...text, effect: 'queue', help: 'Jobs are in the store.' },
  some('config-file', 'File with options (default /etc/gearmand.conf); also @file.', file),
  none('syslog', 'the log goes where --log-file says'),
  none('coredump', 'the system decides about core files'),
  none('threads', 'a gateway is one process; several share a store', { short: 't', ...number }),
  some('user', 'User to run as.', { short: 'u', ...text }),
  some('verbose', 'FATAL, ALERT, CRITICAL, ERROR (default), WARNING, NOTICE, INFO, DEBUG.', text),
  some('version', 'Print the version.', { short: 'V' }),
  some('worker-wakeup', 'Sleeping workers woken per job; 0 (default) is all.', {
    short: 'w',
    ...number,
  }),
  some('check-args', 'Check the options and exit.'),
  some('http-port', 'Port of --protocol http (default 8080).', number),
  some('port', 'Port to listen on (default 4730, or GEARMAND_PORT).', { short: 'p', ...number }),
  some('ssl', 'Speak TLS.'),
  some('ssl-ca-file', 'Authorities (PEM) of client certificates.', file),
  some('ssl-certificate', 'Certificate (PEM) of --ssl.', file),
  some('ssl-key', 'Key (PEM) of --ssl.', file),
  ...queueOptions,
]

/** For completion: gearmand's own rules parse its words. */
export const gearmandForm: CommandForm = {
  words: ['gearmand'],
  summary: "run the gateway with gearmand's own options",
  options: gearmandOptions,
}

const width = 32

/** The text of `--help`. */
export function helpText(): string {
  const help = new Help()
  help.helpWidth = helpWidth()
  const lines = gearmandOptions.map((option) => formatItem(left(option), width, option.help, help))
  return [
    'Usage: crossgear gearmand [options]',
    '',
    "Runs the gateway with gearmand's own options: the Gearman port, and the HTTP",
    'port with -r http. CROSSGEAR_REDIS_URL or CROSSGEAR_DATA_DIR says where jobs are',
    'kept; CROSSGEAR_FAKTORY_PORT and CROSSGEAR_WEB_PORT open those ports: see',
    'crossgear --help.',
    '',
    'Allowed options:',
    ...lines,
    '',
  ].join('\n')
}

function left({ name, short, argument }: GearmandOption): string {
  const names = short === undefined ? `--${name}` : `-${short} [ --${name} ]`
  return argument === undefined ? names : `${names} arg`
}
