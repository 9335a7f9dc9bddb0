import { jobOptions } from './job-options.ts'
import { limitOptions } from './limit-options.ts'
import { notifyOptions } from './notify-options.ts'
import { outputOptions } from './output-options.ts'
import { portOptions } from './port-options.ts'
import { storeOptions } from './store-options.ts'
import { tlsOptions } from './tls-options.ts'
import { flagOfRow, type OptionRow, separated } from './option-row.ts'
import type { Setting, SettingGroup, ValueKind } from './value-kinds.ts'

/** Every setting of the gateway, in the order of `--help`. */
export const options = {
  ...portOptions,
  ...tlsOptions,
  ...storeOptions,
  ...jobOptions,
  ...notifyOptions,
  ...limitOptions,
  ...outputOptions,
} as const satisfies Record<string, unknown>

export type OptionName = keyof typeof options

export type OptionValue<Name extends OptionName> = (typeof options)[Name] extends {
  readonly value: ValueKind<infer T>
}
  ? T
  : never

export const optionNames = Object.keys(options) as OptionName[]

/** The row of an option, whatever its value type. */
export function optionRow(name: OptionName): Setting & { readonly group: SettingGroup } {
  return options[name]
}

/** The row of an option for a command line, in words: only explicit flags may override the environment, so it has no default. */
export function settingOption(name: OptionName): OptionRow {
  const { argument, help, group, value, fallback, shownFallback } = optionRow(name)
  return {
    name,
    argument,
    group: `${group}:`,
    help: `${help} (default: ${shownFallback ?? String(fallback)})`,
    ...(value.choices && { choices: value.choices }),
    // Checked with what the other sources say.
    read: (text) => text,
  }
}

/** `gearmanPort` is `--gearman-port`. */
export function flagOf(name: OptionName): string {
  return flagOfRow({ name })
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

const namesByFlag = new Map(optionNames.map((name) => [flagOf(name), name]))

/** A message in the words of a command with options of its own: where it has none for a setting, the variable is named. */
export function inWordsOf(message: string, own: ReadonlyMap<OptionName, string>): string {
  const said = message.replaceAll(
    /(--[a-z][a-z-]*)(?: (yes|no|off)\b)?/g,
    (all, flag: string, value?: string) => {
      const name = namesByFlag.get(flag)
      if (name === undefined) return all
      const [word, joint] = own.has(name) ? [own.get(name), ' '] : [variablesOf(name)[0], '=']
      return value === undefined ? `${word}` : `${word}${joint}${value}`
    },
  )
  return said.replaceAll(/\b(CROSSGEAR_\w+) or \1\b/g, '$1')
}
