import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../config/load-config.ts'
import { flagOf, type OptionName, optionNames, optionRow } from '../config/options.ts'
import type { TlsOptions } from '../doors/net/tls.ts'
import { plainEntry } from '../config/cron-entry.ts'
import { type TlsPort, tlsFileOptions } from '../config/tls-options.ts'
import type { PortTls, Settings } from './doors.ts'

/** The settings that a running gateway takes over. */
export interface Changes {
  /** The settings from now on. */
  readonly settings: Settings
  /** Names of changed settings, as an operator writes them. */
  readonly changed: readonly string[]
  /** Names of changed settings that need a restart. */
  readonly fixed: readonly string[]
}

/** Tables of the configuration file that a reload takes over. */
const tables: Readonly<
  Record<'routes' | 'throttles' | 'operators' | 'cron', (config: Config) => unknown>
> = {
  routes: ({ routes }) => routes,
  throttles: ({ throttles }) => throttles,
  operators: ({ operators }) => operators,
  cron: ({ cron }) => cron.map(plainEntry),
}

/** Compares the settings of a running gateway with others that are valid as a whole. */
export function changesBetween(running: Settings, next: Settings): Changes {
  const bound = boundFiles(running.tls, next.tls)
  const changed = new Set<string>()
  const fixed = new Set<string>()
  const config: Record<string, unknown> = { ...running.config }
  for (const name of optionNames) {
    if (isDeepStrictEqual(running.config[name], next.config[name])) continue
    if (optionRow(name).reloads === undefined || bound.has(name)) fixed.add(flagOf(name))
    else {
      changed.add(flagOf(name))
      config[name] = next.config[name]
    }
  }
  for (const [name, valueOf] of Object.entries(tables)) {
    if (isDeepStrictEqual(valueOf(running.config), valueOf(next.config))) continue
    changed.add(name)
    config[name] = next.config[name as keyof typeof tables]
  }
  for (const { port, file, option: name } of tlsFileOptions) {
    const isSame = isDeepStrictEqual(running.tls[port]?.[file], next.tls[port]?.[file])
    if (!isSame && !bound.has(name)) changed.add(flagOf(name))
  }
  const tls = renewed(running.tls, next.tls)
  return {
    settings: { config: config as unknown as Config, tls },
    changed: [...changed],
    fixed: [...fixed],
  }
}

/** Files whose change a listening port cannot follow: those that turn TLS, or asking for certificates, on or off. */
function boundFiles(running: PortTls, next: PortTls): ReadonlySet<OptionName> {
  const bound = tlsFileOptions.filter(({ port, file }) => {
    const [before, after] = [running[port], next[port]]
    if (!before || !after) return before !== after
    return (before[file] === undefined) !== (after[file] === undefined)
  })
  return new Set(bound.map(({ option }) => option))
}

/** The certificates of ports that speak TLS already. */
function renewed(running: PortTls, next: PortTls): PortTls {
  const renewals = (Object.keys(running) as TlsPort[]).flatMap((port): [string, TlsOptions][] => {
    const [before, after] = [running[port], next[port]]
    if (!before) return []
    if (!after) return [[port, before]]
    const ca = before.ca && (after.ca ?? before.ca)
    return [[port, { ...before, cert: after.cert, key: after.key, ...(ca && { ca }) }]]
  })
  return Object.fromEntries(renewals)
}
