import { availableParallelism, hostname } from 'node:os'
import { readHostNames } from '../net/foreign-requests.ts'
import { readNetworks } from '../net/networks.ts'
import { maskStoreUrl, parseStoreUrl } from '../redis-server/store-address.ts'
import { limitOptions } from './limit-options.ts'
import { tlsOptions } from './tls-options.ts'
import {
  checkedText,
  countOrAuto,
  maxReplicas,
  oneOf,
  optional,
  type OptionRow,
  portOr,
  readDurability,
  row,
  secret,
  text,
  versionOf,
  wholeNumber,
  yesNo,
} from './value-kinds.ts'

/** Each has its own connections to the store. */
const maxProcesses = 64
const yearSeconds = 365 * 24 * 3600
const weekSeconds = 7 * 24 * 3600

/**
 * A handle is `<prefix>:<lane number>:<id>`, at most 63 bytes: 38 for the prefix leave 6 base-36
 * digits for the lane (two billion) and ids up to 2^53.
 */
const maxPrefixBytes = 38
const hostPrefix = `H:${hostname()}`.replaceAll(/[^!-~]/g, '-').slice(0, maxPrefixBytes)

/** Every setting of the gateway, in the order of `--help`. */
export const options = {
  host: row({
    group: 'Doors',
    argument: 'address',
    help: 'address for every door to listen on; * is every address of the machine',
    value: text(
      'an address of this machine, such as 127.0.0.1, or * for all of them',
      /^(\*|[\w.:%-]+)$/,
    ),
    fallback: '127.0.0.1',
  }),
  gearmanPort: row({
    group: 'Doors',
    argument: 'port',
    help: 'port for Gearman clients and workers; off closes the door, 0 takes a free port',
    value: portOr('off'),
    fallback: 4730,
  }),
  faktoryPort: row({
    group: 'Doors',
    argument: 'port',
    help: 'port for Faktory producers and consumers, or off',
    value: portOr('off'),
    fallback: 7419,
  }),
  httpPort: row({
    group: 'Doors',
    argument: 'port',
    help: 'port for jobs submitted with HTTP (POST /function), or off',
    value: portOr('off'),
    fallback: 'off',
  }),
  webPort: row({
    group: 'Doors',
    argument: 'port',
    help: 'port for /metrics (docs/metrics.md), /healthz, /readyz and the admin API (docs/api.md), or off',
    value: portOr('off'),
    fallback: 7420,
  }),
  faktoryPassword: row({
    group: 'Doors',
    argument: 'password',
    help: 'password of the Faktory port; /path names a file that holds it',
    value: optional(secret('a password, or the path of a file that holds it')),
    fallback: undefined,
    shownFallback: 'none',
    alsoEnv: ['FAKTORY_PASSWORD'],
    readsFile: true,
  }),
  faktoryPasswordTries: row({
    group: 'Doors',
    argument: 'n',
    help: 'wrong passwords per minute and address, before the Faktory port rejects that address for the rest of the minute; 0: any number',
    value: wholeNumber(0, 1_000_000),
    fallback: 10,
  }),
  faktoryOpen: row({
    group: 'Doors',
    argument: 'yes|no',
    help: 'let the Faktory port listen beyond this machine without a password',
    value: yesNo(),
    fallback: false,
    shownFallback: 'no',
  }),
  webPassword: row({
    group: 'Doors',
    argument: 'password',
    help: "the operator's password for /api/v1 on the web port, without which nothing can be changed there; /path names a file that holds it",
    value: optional(secret('a password, or the path of a file that holds it')),
    fallback: undefined,
    shownFallback: 'none',
    readsFile: true,
  }),
  webReaderPassword: row({
    group: 'Doors',
    argument: 'password',
    help: 'password of those who only read there; /path names a file that holds it; this machine reads without one',
    value: optional(secret('a password, or the path of a file that holds it')),
    fallback: undefined,
    shownFallback: 'none',
    readsFile: true,
  }),
  webPasswordTries: row({
    group: 'Doors',
    argument: 'n',
    help: 'wrong passwords that one address may send to the web port in a minute, before it is turned away for the rest of it; 0: any number',
    value: wholeNumber(0, 1_000_000),
    fallback: 10,
  }),
  webOpen: row({
    group: 'Doors',
    argument: 'yes|no',
    help: 'whether other machines may read on the web port without a password, which then may listen beyond this machine without one',
    value: yesNo(),
    fallback: false,
    shownFallback: 'no',
  }),
  handlePrefix: row({
    group: 'Doors',
    argument: 'text',
    help: 'prefix of Gearman job handles',
    value: text(
      `1 to ${maxPrefixBytes} printable ASCII characters without blanks`,
      new RegExp(`^[!-~]{1,${maxPrefixBytes}}$`),
    ),
    fallback: hostPrefix,
    shownFallback: 'H:<host name>',
  }),
  adminFrom: row({
    group: 'Doors',
    argument: 'list',
    help: 'comma-separated addresses and networks, besides this machine, that may use Gearman text commands that change something, and FLUSH on the Faktory port',
    value: optional(
      checkedText(
        'addresses or networks such as 10.0.0.0/8, with commas between them',
        (list) => readNetworks(list) !== undefined,
        (list) => list,
      ),
    ),
    fallback: undefined,
    shownFallback: 'none',
  }),
  allowedHosts: row({
    group: 'Doors',
    argument: 'list',
    help: 'comma-separated names that the web and HTTP ports accept in the header Host; they always accept addresses, localhost and the name of --host; * is any name',
    value: optional(
      checkedText(
        'names such as jobs.example.org, with commas between them, or *',
        (list) => readHostNames(list) !== undefined,
        (list) => list,
      ),
    ),
    fallback: undefined,
    shownFallback: 'none',
  }),
  ...tlsOptions,

  redisUrl: row({
    group: 'Store',
    argument: 'url',
    help: 'Redis or Valkey for the jobs: redis://[user:password@]host[:port][/db], rediss://..., unix:///path[?db=n&password=...], redis+sentinel://[user:password@]host:port,.../name[?db=n] or redis+cluster://[user:password@]host:port,...',
    value: optional(
      checkedText(
        'redis://host:port/db, rediss://host:port/db, unix:///path?db=n, redis+sentinel://host:port,host:port/name or redis+cluster://host:port,host:port',
        (url) => parseStoreUrl(url) !== undefined,
        maskStoreUrl,
      ),
    ),
    fallback: undefined,
    shownFallback:
      'a private redis-server or valkey-server where one is installed, else an embedded store without persistence',
  }),
  dataDir: row({
    group: 'Store',
    argument: 'path',
    help: 'data folder of the private store',
    value: text('the path of a folder'),
    fallback: './crossgear-data',
  }),
  storePort: row({
    group: 'Store',
    argument: 'port',
    help: 'loopback port of the private or embedded store, for native GearMonkey programs; auto is 6379 if that is free, else another',
    value: portOr('auto'),
    fallback: 'auto',
  }),
  durability: row({
    group: 'Store',
    argument: 'level',
    help: "when a job counts as accepted and an outcome as taken: store (the store has it), fsync (it is on the store's disk; Redis 7.2 or Valkey) or replicas:n (n replicas have it)",
    value: checkedText(
      `store, fsync or replicas:n with n from 1 to ${maxReplicas}`,
      (text) => readDurability(text) !== undefined,
      (text) => text,
    ),
    fallback: 'store',
  }),

  jobRetries: row({
    group: 'Jobs',
    argument: 'n',
    help: 'number of lost workers at which a job is given up; 0: never',
    value: wholeNumber(0, 1_000_000),
    fallback: 0,
  }),
  workerWakeup: row({
    group: 'Jobs',
    argument: 'n',
    help: 'sleeping Gearman workers woken for each job; 0: all of its function',
    value: wholeNumber(0, 1_000_000),
    fallback: 1,
  }),
  roundRobin: row({
    group: 'Jobs',
    argument: 'yes|no',
    help: 'give a Gearman worker jobs of its functions in turn; no: the function it named last comes first (gearmand 2.0: always in turn)',
    value: yesNo(),
    fallback: false,
    shownFallback: 'no',
  }),
  gearmandVersion: row({
    group: 'Jobs',
    argument: 'version',
    help: 'version of gearmand whose order of jobs the Gearman port follows: 1.1 (function after function, priorities within each) or 2.0 (the highest priority of all functions of a worker, functions in turn)',
    value: versionOf(['1.1', '2.0']),
    fallback: '1.1',
  }),
  exceptions: row({
    group: 'Jobs',
    argument: 'yes|no',
    help: 'send exceptions to Gearman clients that did not ask for them',
    value: yesNo(),
    fallback: false,
    shownFallback: 'no',
  }),
  drainSeconds: row({
    group: 'Jobs',
    argument: 'seconds',
    help: 'how long a stopping gateway still takes outcomes of running jobs',
    value: wholeNumber(0, yearSeconds),
    fallback: 10,
  }),
  bridgeFaktory: row({
    group: 'Jobs',
    argument: 'rule',
    help: 'jobs of other doors that Faktory consumers get: auto (also of functions without a recent worker by name) or routed (only of functions that a route, a Faktory producer or an operator opens to them)',
    value: oneOf(['auto', 'routed']),
    fallback: 'auto',
    key: 'bridge.faktory',
  }),
  bridgeGraceDays: row({
    group: 'Jobs',
    argument: 'days',
    help: 'how long auto keeps a function from Faktory consumers after its last worker by name left; 0: only while one is there',
    value: wholeNumber(0, 3650),
    fallback: 7,
    key: 'bridge.grace_days',
  }),

  faktoryDeadWorkerRequeue: row({
    group: 'Jobs',
    argument: 'rule',
    help: 'jobs that a dead Faktory worker (no BEAT for 60 s, or without a wid no connection) gives back at once: others (jobs of other doors; those of Faktory producers wait for the end of their reserve_for) or all',
    value: oneOf(['others', 'all']),
    fallback: 'others',
  }),

  repair: row({
    group: 'Jobs',
    argument: 'rule',
    help: 'repair of what native GearMonkey programs leave when they die: off, report (log and count it), strays (requeue idle jobs that are in no queue) or on (also requeue busy jobs and correct counts)',
    value: oneOf(['off', 'report', 'strays', 'on']),
    fallback: 'strays',
  }),
  repairLeaseSeconds: row({
    group: 'Jobs',
    argument: 'seconds',
    help: 'how long a job must not change before it is repaired; longer than any native job runs without reporting progress',
    value: wholeNumber(1, weekSeconds),
    fallback: 3600,
  }),

  processes: row({
    group: 'Processes',
    argument: 'n',
    help: `processes that share the ports (experimental); auto: one for each core, 1 to ${maxProcesses}`,
    value: countOrAuto(maxProcesses, availableParallelism()),
    fallback: 1,
  }),

  ...limitOptions,

  logLevel: row({
    group: 'Output',
    argument: 'level',
    help: 'trace, debug, info, warn, error, fatal or silent',
    value: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    fallback: 'info',
  }),
  logFormat: row({
    group: 'Output',
    argument: 'format',
    help: 'text, json, or auto: text on a terminal, JSON lines otherwise',
    value: oneOf(['auto', 'text', 'json']),
    fallback: 'auto',
  }),
  tracing: row({
    group: 'Output',
    argument: 'yes|no',
    help: 'trace jobs with OpenTelemetry, whose SDK NODE_OPTIONS loads (docs/tracing.md)',
    value: yesNo(),
    fallback: false,
    shownFallback: 'no',
  }),
  config: row({
    group: 'Output',
    argument: 'file',
    help: 'TOML file with any of these settings, and with routes',
    value: optional(text('the path of a TOML file')),
    fallback: undefined,
    shownFallback: 'none',
    key: null,
  }),
} as const satisfies Record<string, unknown>

export type OptionName = keyof typeof options

export type OptionValue<Name extends OptionName> =
  (typeof options)[Name] extends OptionRow<infer T> ? T : never

export const optionNames = Object.keys(options) as OptionName[]

/** The row of an option, whatever its value type. */
export function optionRow(name: OptionName): OptionRow<unknown> {
  return options[name]
}

function separated(name: string, separator: string): string {
  return name.replaceAll(/[A-Z]/g, (capital) => separator + capital.toLowerCase())
}

/** `gearmanPort` is `--gearman-port`. */
export function flagOf(name: OptionName): string {
  return `--${separated(name, '-')}`
}

/** `gearmanPort` is `CROSSGEAR_GEARMAN_PORT`; the first one set counts. */
export function variablesOf(name: OptionName): readonly string[] {
  const own = `CROSSGEAR_${separated(name, '_').toUpperCase()}`
  return [own, ...(optionRow(name).alsoEnv ?? [])]
}

/** `gearmanPort` is `gearman_port`; null: not in the file. */
export function keyOf(name: OptionName): string | null {
  const { key } = optionRow(name)
  return key === undefined ? separated(name, '_') : key
}
