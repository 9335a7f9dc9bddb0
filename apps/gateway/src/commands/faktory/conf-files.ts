import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Throttle } from '@crossgear/core-scheduler'
import { parseFile, readCronEntries } from '../../config/config-file.ts'
import type { ForeignSettings, Given } from '../../config/load-config.ts'
import type { OptionName } from '../../config/options.ts'
import { isTable } from '../../config/table-fields.ts'
import { readThrottles } from '../../config/throttles.ts'
import { closest } from '../../config/unknown-variables.ts'
import { oneLine, StartError, systemCode } from '../../errors.ts'
import type { CronEntry } from '../../config/cron-entry.ts'
import { type BoundDoor, faktoryDoor, readBinding, webDoor } from './binding.ts'
import { movingGuide } from './program.ts'

/** Settings of all files of a folder, which each of its sections adds to. */
class Joined implements ForeignSettings {
  readonly values = new Map<OptionName, Given>()
  readonly cron: CronEntry[] = []
  readonly throttles = new Map<string, Throttle>()
  readonly #files = new Map<string, string>()

  /** `what`: the key, as in `faktory.password`. */
  addValues(values: ReadonlyMap<OptionName, Given>, what: string, file: string): void {
    this.#addOnce(what, file)
    for (const [name, given] of values) this.values.set(name, given)
  }

  addCron(value: unknown, file: string): void {
    for (const entry of readCronEntries(value, file)) {
      this.#addOnce(`cron entry ${entry.name}`, file)
      this.cron.push(entry)
    }
  }

  addThrottles(value: unknown, file: string): void {
    for (const [queue, throttle] of readThrottles(value, file)) {
      this.#addOnce(`throttles.${queue}`, file)
      this.throttles.set(queue, throttle)
    }
  }

  #addOnce(what: string, file: string): void {
    const known = this.#files.get(what)
    this.#files.set(what, file)
    if (known === undefined) return
    throw new StartError(`${what} is in ${known} and in ${file}: keep one of them.`, 2)
  }
}

/** Sets one option, or the address and the port of a door. */
type Key =
  | { readonly option: OptionName; readonly binding?: never }
  | { readonly binding: BoundDoor }

/** Keys of the sections that have a setting each. */
const settingKeys: Readonly<Record<string, Readonly<Record<string, Key>>>> = {
  faktory: { binding: { binding: faktoryDoor }, password: { option: 'faktoryPassword' } },
  web: { binding: { binding: webDoor }, password: { option: 'webPassword' } },
}

/** Sections of Faktory that have no counterpart, with what to do instead. */
const refusals: Readonly<Record<string, string>> = {
  statsd:
    'figures are not sent to statsd: let Prometheus read /metrics of the web port (docs/reference/metrics.md), and remove the section',
  queues:
    'queues need no section: limit one with [throttles.<queue>], or pause it with crossgear queues pause <queue>, and remove the section',
  redis:
    'programs reach the store directly: name a Redis of your own with CROSSGEAR_REDIS_URL, or set CROSSGEAR_STORE_PORT for the private one, and remove the section',
  license: 'no license is needed: remove the section',
}

const sectionNames = [...Object.keys(settingKeys), 'cron', 'throttles']
const advice = 'give a file that can be read, or another folder with -c'

/**
 * Reads `conf.d/*.toml` of a config folder, in the order of their names. Each file stands for itself, and what
 * several say is joined.
 *
 * @throws StartError (code 2) for a file, section or key that cannot be obeyed.
 */
export function readConfFiles(folder: string): ForeignSettings {
  const joined = new Joined()
  for (const file of tomlFiles(join(folder, 'conf.d'))) {
    for (const [section, value] of Object.entries(parseFile(file, advice))) {
      readSection(section, value, file, joined)
    }
  }
  return joined
}

/** TOML files of the config folder itself, which the server does not read either. */
export function misplacedFiles(folder: string): readonly string[] {
  return existsSync(folder) && statSync(folder).isDirectory() ? tomlFiles(folder) : []
}

function tomlFiles(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.toml'))
    return names.sort().map((name) => join(folder, name))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw new StartError(`${folder} cannot be read (${oneLine(error)}): ${advice}.`, 2, {
      cause: error,
    })
  }
}

function readSection(section: string, value: unknown, file: string, joined: Joined): void {
  if (section === 'cron') joined.addCron(value, file)
  else if (section === 'throttles') joined.addThrottles(value, file)
  else if (Object.hasOwn(settingKeys, section)) readSettings(section, value, file, joined)
  else throw unknownSection(section, value, file)
}

function readSettings(section: string, value: unknown, file: string, joined: Joined): void {
  const keys = settingKeys[section] ?? {}
  if (!isTable(value)) {
    throw new StartError(`${section} in ${file} is not a table: write [${section}].`, 2)
  }
  for (const [name, given] of Object.entries(value)) {
    const from = `${section}.${name} in ${file}`
    const key = Object.hasOwn(keys, name) ? keys[name] : undefined
    if (!key) {
      const known = closest(name, Object.keys(keys)) ?? Object.keys(keys).join(' or ')
      throw new StartError(
        `${from} is unknown: use ${known}, or set a variable CROSSGEAR_... (see crossgear --help).`,
        2,
      )
    }
    const values = key.binding
      ? readBinding(key.binding, from, given)
      : new Map([[key.option, { from, value: given }]])
    joined.addValues(values, `${section}.${name}`, file)
  }
}

function unknownSection(section: string, value: unknown, file: string): StartError {
  const isSection = isTable(value) || Array.isArray(value)
  const place = `${isSection ? `[${section}]` : section} in ${file}`
  if (Object.hasOwn(refusals, section)) {
    return new StartError(`${place} cannot be obeyed: ${refusals[section] ?? ''}.`, 2)
  }
  const near = closest(section, sectionNames)
  const remedy =
    near === undefined
      ? `remove it, or see ${movingGuide} for what takes its place`
      : `did you mean [${near}]?`
  return new StartError(`${place} is unknown: ${remedy.endsWith('?') ? remedy : `${remedy}.`}`, 2)
}
