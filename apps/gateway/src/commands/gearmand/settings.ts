import {
  type Config,
  type ConfigSources,
  type ForeignSettings,
  type Given as GivenValue,
  loadConfig,
} from '../../config/load-config.ts'
import { inWordsOf, type OptionName } from '../../config/options.ts'
import { StartError } from '../../errors.ts'
import { gearmandVersions } from '../../doors/gearman/gearmand-version.ts'
import { handlePrefix } from '../../doors/gearman/handles.ts'
import { readVerbosity, type Verbosity } from './log-file.ts'
import { isQueueType, movingGuide } from './option-table.ts'
import { findOption, type Given, usageError } from './parse-words.ts'
import { accessSync, constants, existsSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'

/** Settings for gearmand's options. */
export interface Settings {
  readonly config: Config
  readonly verbosity: Verbosity
  /** A line for each given option without an effect. */
  readonly notes: readonly string[]
}

type Env = ConfigSources['env']

const maxConnections = 1_000_000
const maxJobs = 1_000_000
const maxBacklog = 65_535
const maxKeepaliveSeconds = 32_767

/** gearmand's defaults that differ from the table's: variables and the file win over them. */
const defaults: ConfigSources['defaults'] = {
  host: '*',
  faktoryPort: 'off',
  webPort: 'off',
  workerWakeup: '0',
  maxNewFunctionsPerAddress: '0',
  allowedHosts: '*',
  drainSeconds: '1',
}

/** The nearest allowed number. */
function within(max: number, min = 1): (value: string) => string {
  return (value) => String(Math.min(Math.max(Number(value), min), max))
}

const settings: Readonly<
  Record<string, { readonly to: OptionName; readonly as?: (value: string) => string }>
> = {
  port: { to: 'gearmanPort' },
  listen: { to: 'host' },
  exceptions: { to: 'exceptions', as: () => 'yes' },
  'round-robin': { to: 'roundRobin', as: () => 'yes' },
  'gearmand-version': { to: 'gearmandVersion' },
  'job-retries': { to: 'jobRetries', as: within(maxJobs, 0) },
  'worker-wakeup': { to: 'workerWakeup', as: within(maxJobs, 0) },
  backlog: { to: 'backlog', as: within(maxBacklog) },
  'keepalive-idle': { to: 'keepaliveSeconds', as: within(maxKeepaliveSeconds) },
  'file-descriptors': {
    to: 'maxConnections',
    as: within(maxConnections),
  },
  'job-handle-prefix': {
    to: 'handlePrefix',
    as: handlePrefix,
  },
}

const tlsSettings: Readonly<Record<string, OptionName>> = {
  'ssl-certificate': 'gearmanTlsCert',
  'ssl-key': 'gearmanTlsKey',
  'ssl-ca-file': 'gearmanTlsCa',
}

/**
 * Translates gearmand's options. They win over CROSSGEAR_* variables, those over GEARMAND_PORT, that over the file of
 * CROSSGEAR_CONFIG.
 *
 * @throws StartError (code 1)
 */
export function settle(given: Given, env: Env): Settings {
  const verbosity = readVerbosity(given.get('verbose'))
  const queueType = given.get('queue-type')
  if (queueType !== undefined && !isQueueType(queueType)) {
    throw usageError(`Error while initializing the queue : ${queueType}`)
  }
  const flags = { ...httpFlags(given), ...tlsFlags(given) }
  for (const [name, value] of given) {
    const setting = settings[name]
    if (setting && !isLeftToSystem(name, value)) flags[setting.to] = setting.as?.(value) ?? value
  }
  const httpPort = given.has('protocol') ? '8080' : 'off'
  const sources: ConfigSources = {
    flags,
    env,
    defaults: { ...defaults, httpPort, dataDir: chooseDataDir() },
    foreign: environmentOf(env),
  }
  const { gearmandVersion } = load(sources)
  const { zeroRetriesMeansNone, alwaysInTurn } = gearmandVersions[gearmandVersion]
  if (zeroRetriesMeansNone && Number(given.get('job-retries')) === 0) flags.jobRetries = '1'
  const notes = [...given].flatMap(([name, value]) => noteOn(name, value, given) ?? [])
  if (alwaysInTurn && given.has('round-robin')) {
    notes.push(`--round-robin has no effect: functions of ${gearmandVersion} always take turns.`)
  }
  const config = load(sources)
  if (given.has('protocol') && config.httpPort === 'off') {
    notes.push('--protocol http has no effect: CROSSGEAR_HTTP_PORT or the file says off.')
  }
  return { config, verbosity, notes }
}

/** gearmand has its own names for options that an error advises. */
export function inGearmandWords(problem: string): string {
  const own = Object.entries({ ...settings, 'http-port': { to: 'httpPort' } as const })
  return inWordsOf(problem, new Map(own.map(([name, { to }]) => [to, `--${name}`])))
}

/** True for gearmand's own default of the option, which means nothing. */
function isLeftToSystem(name: string, value: string): boolean {
  return name === 'keepalive-idle' && Number(value) <= 0
}

function load(sources: ConfigSources): Config {
  try {
    return loadConfig(sources)
  } catch (error) {
    if (error instanceof StartError) throw new StartError(error.message, 1, { cause: error })
    throw error
  }
}

/** gearmand's own variable. */
function environmentOf({ GEARMAND_PORT: port }: Env): ForeignSettings {
  const values = new Map<OptionName, GivenValue>()
  if (port) values.set('gearmanPort', { from: 'GEARMAND_PORT', value: port })
  return { values, cron: [], throttles: new Map() }
}

function httpFlags(given: Given): Partial<Record<OptionName, string>> {
  const [protocol, httpPort] = [given.get('protocol'), given.get('http-port')]
  if (protocol === undefined) return {}
  if (protocol.toLowerCase() !== 'http') throw usageError(`Unknown protocol module : ${protocol}`)
  return httpPort === undefined ? {} : { httpPort }
}

function tlsFlags(given: Given): Partial<Record<OptionName, string>> {
  if (!given.has('ssl')) return {}
  const flags: Partial<Record<OptionName, string>> = {}
  for (const [name, to] of Object.entries(tlsSettings)) {
    const value = given.get(name)
    if (value === undefined && name !== 'ssl-ca-file') {
      throw usageError('--ssl needs --ssl-certificate and --ssl-key')
    }
    if (value !== undefined) flags[to] = value
  }
  return flags
}

function noteOn(name: string, value: string, given: Given): string | undefined {
  const effect = findOption(name)?.effect ?? 'some'
  if (name === 'queue-type') {
    return `--queue-type ${value} has no effect: jobs are persistent in the store. How to move those of an old queue: ${movingGuide}.`
  }
  if (effect === 'queue') return `--${name} has no effect: jobs are persistent in the store.`
  if (effect !== 'some') return `--${name} has no effect: ${effect.none}.`
  if (name in tlsSettings && !given.has('ssl')) return `--${name} has no effect without --ssl.`
  if (name === 'http-port' && !given.has('protocol')) {
    return '--http-port has no effect without --protocol http.'
  }
  return undefined
}

const folder = 'crossgear-data'
const systemFolder = '/var/lib/crossgear'

/**
 * Default data folder of the private store: in the working folder, as without gearmand's options,
 * unless a start script leaves that at `/`. An existing folder wins.
 */
export function chooseDataDir(cwd = process.cwd(), home = homeOfUser()): string {
  const candidates = [
    ...(cwd === '/' ? [] : [join(cwd, folder)]),
    systemFolder,
    ...(home === '/' ? [] : [join(home, folder)]),
  ]
  return (
    candidates.find((path) => existsSync(path) && mayWrite(path)) ??
    candidates.find((path) => !existsSync(path) && mayWrite(dirname(path))) ??
    systemFolder
  )
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Not HOME: in a start script that belongs to the calling user. */
function homeOfUser(): string {
  try {
    return userInfo().homedir
  } catch {
    return homedir()
  }
}
