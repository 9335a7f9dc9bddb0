import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  type Config,
  type ConfigSources,
  type ForeignSettings,
  type Given as GivenValue,
  loadConfig,
  loadOptions,
  webHostOf,
} from '../../config/load-config.ts'
import type { OptionName } from '../../config/options.ts'
import { StartError } from '../../errors.ts'
import { isLoopback } from '../../doors/net/addresses.ts'
import { faktoryDoor, readBinding, webDoor } from './binding.ts'
import { misplacedFiles, readConfFiles } from './conf-files.ts'
import { environments, type Given, movingGuide } from './program.ts'

/** Settings for the options and files of a Faktory server. */
export interface Settings {
  readonly config: Config
  /** A line for each thing that the Faktory server would do, and this one does not. */
  readonly notes: readonly string[]
}

type Env = ConfigSources['env']

/**
 * Translates the options and files of a Faktory server. Options win over CROSSGEAR_* and FAKTORY_* variables, those
 * over the files.
 *
 * @throws StartError (code 2)
 */
export function settle(given: Given, env: Env): Settings {
  const environment = given.e ?? environmentOf(env)
  const isDevelopment = environment === 'development'
  const [configFolder, storage] = folders(given, isDevelopment)
  if (given.c !== undefined && !existsSync(configFolder)) {
    throw new StartError(`-c names ${configFolder}, which is not there: give a folder.`, 2)
  }
  const mayLackPassword = isDevelopment || isYes(env['FAKTORY_SKIP_PASSWORD'])
  const tls = tlsFiles(configFolder)
  const foreign = withPasswords(readConfFiles(configFolder), env, {
    ...(!isDevelopment && { file: join(configFolder, 'password') }),
  })
  const flags = { ...flagsOf(given), ...(given.d !== undefined && { dataDir: storage }) }
  // The web port listens where a variable or the file says, and not where -b does.
  const { host: webHost } = loadOptions(['host'], {
    flags: {},
    env,
    defaults: { host: 'localhost' },
  })
  const load = (more: ConfigSources['defaults']): Config =>
    loadConfig({
      flags,
      env,
      foreign,
      defaults: {
        host: 'localhost',
        gearmanPort: 'off',
        dataDir: storage,
        drainSeconds: '1',
        ...tls,
        ...(webHost !== undefined && { webHost }),
        ...more,
      },
    })
  const loaded = load({})
  const { faktoryPassword, webPassword = faktoryPassword, faktoryPort } = loaded
  if (faktoryPassword === undefined && !mayLackPassword && faktoryPort !== 'off') {
    throw new StartError(
      `The environment is ${environment}, which needs a password: set FAKTORY_PASSWORD, or password in the section [faktory] of a file in ${join(configFolder, 'conf.d')}, or write it into ${join(configFolder, 'password')}. FAKTORY_SKIP_PASSWORD=yes does without.`,
      2,
    )
  }
  const listensOn = webHostOf(loaded)
  const isLocal = isLoopback(listensOn) || listensOn === 'localhost'
  const config = load({
    ...(mayLackPassword && faktoryPassword === undefined && { faktoryOpen: 'yes' }),
    ...(mayLackPassword && webPassword === undefined && { webOpen: 'yes' }),
    // Without a password a page of another site must not read what only this machine may.
    ...((webPassword !== undefined || !isLocal) && { allowedHosts: '*' }),
  })
  return {
    config: Object.freeze({ ...config, webPassword }),
    notes: [...ignoredWords(given), ...notesOn(config, configFolder, storage, env)],
  }
}

function environmentOf({ FAKTORY_ENV }: Env): string {
  const environment = FAKTORY_ENV || 'development'
  if (environments.includes(environment)) return environment
  throw new StartError(
    `FAKTORY_ENV is ${JSON.stringify(environment)}: give ${environments.join(', ')}.`,
    2,
  )
}

function isYes(value: string | undefined): boolean {
  return value !== undefined && ['1', 'true', 'yes'].includes(value)
}

/** The folders of configuration and jobs. The Faktory server's own files stay next to the jobs. */
function folders({ c, d }: Given, isDevelopment: boolean): readonly [string, string] {
  const own = join(homedir(), '.faktory')
  const [configFolder, storage] = isDevelopment
    ? [own, join(own, 'db')]
    : ['/etc/faktory', '/var/lib/faktory/db']
  return [resolve(c ?? configFolder), join(resolve(d ?? storage), 'crossgear')]
}

function flagsOf({ b, w, l }: Given): ConfigSources['flags'] {
  const bound = [
    ...(b === undefined ? [] : readBinding(faktoryDoor, '-b', b)),
    ...(w === undefined ? [] : readBinding(webDoor, '-w', w)),
  ].map(([name, { value }]) => [name, String(value)])
  return {
    ...(Object.fromEntries(bound) as ConfigSources['flags']),
    ...(l !== undefined && { logLevel: l === 'verbose' ? 'debug' : l }),
  }
}

/** The server looks for them in its config folder. */
function tlsFiles(folder: string): Partial<Record<OptionName, string>> {
  const [cert, key] = [join(folder, 'public.cert.pem'), join(folder, 'private.key.pem')]
  const found = [cert, key].filter((file) => existsSync(file))
  if (found.length === 0) return {}
  if (found.length === 1) {
    const missing = found.includes(cert) ? key : cert
    throw new StartError(
      `${found.join('')} is there without ${missing}: TLS needs both, so add the other or remove it.`,
      2,
    )
  }
  return { faktoryTlsCert: cert, faktoryTlsKey: key, webTlsCert: cert, webTlsKey: key }
}

/** Adds the web port's password of the environment, and the password file where no other place has one. */
function withPasswords(
  foreign: ForeignSettings,
  { FAKTORY_WEBUI_PASSWORD: web }: Env,
  { file }: { readonly file?: string },
): ForeignSettings {
  const values = new Map<OptionName, GivenValue>(foreign.values)
  if (web) values.set('webPassword', { from: 'FAKTORY_WEBUI_PASSWORD', value: web })
  if (file !== undefined && !values.has('faktoryPassword') && existsSync(file)) {
    values.set('faktoryPassword', { from: 'The password file', value: file })
  }
  return { cron: foreign.cron, throttles: foreign.throttles, values }
}

function ignoredWords({ ignored = [] }: Given): readonly string[] {
  if (ignored.length === 0) return []
  return [`Words that are no option end the options: ${ignored.join(' ')} has no effect.`]
}

const redisVariables = ['REDIS_PROVIDER', 'REDIS_URL']

function notesOn(
  { redisUrl, dataDir }: Config,
  configFolder: string,
  storage: string,
  env: Env,
): readonly string[] {
  const notes = misplacedFiles(configFolder).map(
    (file) => `${file} is not read: move it into ${join(configFolder, 'conf.d')}.`,
  )
  const data = join(storage, '..', 'faktory.rdb')
  if (existsSync(data)) {
    notes.push(
      `The jobs of the Faktory server in ${data} are not read: ${movingGuide} says how to move them.`,
    )
  }
  const named = redisVariables.find((name) => env[name])
  if (named !== undefined && redisUrl === undefined) {
    notes.push(
      `${named} has no effect: set CROSSGEAR_REDIS_URL to keep jobs in that Redis, and not in ${dataDir}.`,
    )
  }
  return notes
}
