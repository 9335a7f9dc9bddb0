import type { Throttle } from '@crossgear/core-scheduler'
import { StartError } from '../errors.ts'
import type { CronEntry } from './cron-entry.ts'
import { type FileSettings, readConfigFile } from './config-file.ts'
import {
  flagOf,
  keyOf,
  type OptionName,
  optionNames,
  optionRow,
  type OptionValue,
  variablesOf,
} from './options.ts'
import { checkNotify } from './notify-options.ts'
import type { Operator } from './operators.ts'
import { portNames } from './port-options.ts'
import type { Route } from './routes.ts'
import { readSecret } from './secret-file.ts'
import { refuseUnknownVariables } from './unknown-variables.ts'

/** Every setting, checked and frozen. */
export type Config = { readonly [Name in OptionName]: OptionValue<Name> } & {
  /** By function. */
  readonly routes: ReadonlyMap<string, Route>
  readonly cron: readonly CronEntry[]
  /** By Faktory queue. */
  readonly throttles: ReadonlyMap<string, Throttle>
  /** People who may log in at the web port, by name. */
  readonly operators: ReadonlyMap<string, Operator>
}

export interface ConfigSources {
  /** Flags of the command line, as text. */
  readonly flags: Readonly<Partial<Record<OptionName, string>>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** A command's defaults where they differ from the table's. */
  readonly defaults?: Readonly<Partial<Record<OptionName, string>>>
  /** Settings from files of another program, which win over the file. None. */
  readonly foreign?: ForeignSettings
}

/** Settings from files of another format. */
export interface ForeignSettings {
  readonly values: ReadonlyMap<OptionName, Given>
  readonly cron: readonly CronEntry[]
  readonly throttles: ReadonlyMap<string, Throttle>
}

export interface Given {
  /** The source's name in the error line. */
  readonly from: string
  readonly value: unknown
}

/**
 * Settles every option: a flag wins over the environment, that over the file, that over the default.
 * A variable that is set but empty counts as unset.
 *
 * @throws StartError (code 2) for a value, key, variable or file that cannot be used.
 */
export function loadConfig(sources: ConfigSources): Config {
  const { file, settings } = settledOptions(optionNames, sources)
  const { foreign } = sources
  for (const table of ['cron', 'throttles'] as const) refuseTwice(table, file, foreign)
  const config: Config = Object.freeze({
    ...(settings as unknown as Config),
    routes: file?.routes ?? new Map<string, Route>(),
    cron: [...(file?.cron ?? []), ...(foreign?.cron ?? [])],
    throttles: new Map([...(file?.throttles ?? []), ...(foreign?.throttles ?? [])]),
    operators: file?.operators ?? new Map<string, Operator>(),
  })
  checkNotify(config, flagOf('notifyDead'))
  if (portNames.every((name) => config[name] === 'off')) {
    const flags = portNames.map(flagOf).join(', ')
    throw new StartError(`Every door is off: open at least one of ${flags}.`, 2)
  }
  refuseHalfProxy(config)
  return config
}

/** Headers that anybody may send say nothing: they count from listed addresses only. A proxy may name nobody. */
function refuseHalfProxy(config: Config): void {
  const given = [config.webUserHeader, config.webRoleHeader, config.webProxyFrom]
  const [user, role] = given
  if (user === undefined && role === undefined) return
  const names = ['webUserHeader', 'webRoleHeader', 'webProxyFrom'] as const
  const missing = names.find((name) => config[name] === undefined)
  if (missing === undefined) return
  const others = names.filter((name) => config[name] !== undefined).map(flagOf)
  throw new StartError(
    `${others.join(' and ')} ${others.length > 1 ? 'need' : 'needs'} ${flagOf(missing)} too: people of a proxy are named by two headers, from listed addresses only.`,
    2,
  )
}

/** A table of the file and of foreign files is no mistake that a reader of one of them would see. */
function refuseTwice(
  table: 'cron' | 'throttles',
  file: FileSettings | undefined,
  foreign: ForeignSettings | undefined,
): void {
  const [own, others] = [[...(file?.[table] ?? [])], [...(foreign?.[table] ?? [])]]
  if (own.length === 0 || others.length === 0) return
  throw new StartError(
    `${table} is in the file of ${variablesOf('config').join('')} and in conf.d: keep it in one of them.`,
    2,
  )
}

/** The address that the web port listens on. */
export function webHostOf({ host, webHost }: Pick<Config, 'host' | 'webHost'>): string {
  return webHost ?? host
}

/**
 * Some settings alone, for a command that only looks for the gateway.
 *
 * @throws StartError (code 2), as loadConfig does.
 */
export function loadOptions<const Names extends readonly OptionName[]>(
  names: Names,
  sources: ConfigSources,
): Partial<Pick<Config, Names[number]>> {
  return settledOptions(names, sources).settings as Partial<Pick<Config, Names[number]>>
}

function settledOptions(
  names: readonly OptionName[],
  sources: ConfigSources,
): {
  readonly file: FileSettings | undefined
  readonly settings: Readonly<Partial<Record<OptionName, unknown>>>
} {
  refuseUnknownVariables(sources.env)
  const path = settle('config', given('config', sources, undefined)) as string | undefined
  const file = path === undefined ? undefined : readConfigFile(path)
  const settings = names.map((name): [OptionName, unknown] => {
    return [name, settle(name, given(name, sources, file && { path: path ?? '', ...file }))]
  })
  return { file, settings: Object.fromEntries(settings) }
}

function given(
  name: OptionName,
  { flags, env, defaults, foreign }: ConfigSources,
  file: (FileSettings & { path: string }) | undefined,
): Given | undefined {
  const flag = flags[name]
  if (flag !== undefined) return { from: flagOf(name), value: flag }
  for (const variable of variablesOf(name)) {
    if (env[variable]) return { from: variable, value: env[variable] }
  }
  const another = foreign?.values.get(name)
  if (another) return another
  if (file?.values.has(name)) {
    return { from: `${String(keyOf(name))} in ${file.path}`, value: file.values.get(name) }
  }
  const value = defaults?.[name]
  return value === undefined ? undefined : { from: flagOf(name), value }
}

function settle(name: OptionName, source: Given | undefined): unknown {
  const { value: kind, fallback, readsFile } = optionRow(name)
  if (!source) return fallback
  const setting: unknown = kind.read(source.value)
  if (setting === undefined) {
    const shown =
      kind.show && typeof source.value === 'string'
        ? JSON.stringify(kind.show(source.value))
        : JSON.stringify(source.value)
    throw new StartError(`${source.from} is ${shown}: give ${kind.expected}.`, 2)
  }
  if (readsFile && typeof setting === 'string') return readSecret(source.from, setting)
  return setting
}
