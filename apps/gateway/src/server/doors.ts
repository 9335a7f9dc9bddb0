import { Scheduler } from '@crossgear/core-scheduler'
import type { Config } from '../config/load-config.ts'
import { flagOf } from '../config/options.ts'
import { type TlsPort, tlsPorts } from '../config/tls-options.ts'
import { doors as rows } from '../doors/table.ts'
import { BufferGarbage } from '../doors/net/buffer-garbage.ts'
import { systemClock } from '../doors/net/clock.ts'
import { Descriptors, openFilesLimit } from '../doors/net/descriptors.ts'
import type { Door } from '../doors/net/door.ts'
import type { DoorHooks, DoorParts as PartsOfDoor } from '../doors/net/door-row.ts'
import { InputBudget } from '../doors/net/input-budget.ts'
import { LaneQuota } from '../doors/net/lane-quota.ts'
import type { OpenPort } from '../doors/net/open-port.ts'
import { RoundRobin } from '../doors/net/round-robin.ts'
import { readTls, type TlsOptions } from '../doors/net/tls.ts'
import { Episodes } from '../config/log/episodes.ts'
import type { Logger } from '../config/log/logger.ts'

/** A gateway's configuration, with the contents of the files that it names. */
export interface Settings {
  readonly config: Config
  readonly tls: PortTls
}

/** The ports that speak TLS, with their options. */
export type PortTls = Readonly<Partial<Record<TlsPort, TlsOptions>>>

/**
 * Reads and checks the TLS files of the configuration.
 *
 * @throws StartError
 */
export function readPortTls(config: Config): PortTls {
  const read = tlsPorts.flatMap((row): [string, TlsOptions][] => {
    const { name } = row
    const tls = readTls(
      {
        cert: config[`${name}TlsCert`],
        key: config[`${name}TlsKey`],
        ...(row.tls === 'clients' && {
          ca: config[`${row.name}TlsCa`],
          requireClientCert: config[`${row.name}TlsVerifyClients`],
        }),
      },
      {
        cert: flagOf(`${name}TlsCert`),
        key: flagOf(`${name}TlsKey`),
        ...(row.tls === 'clients' && {
          ca: flagOf(`${row.name}TlsCa`),
          requireClientCert: flagOf(`${row.name}TlsVerifyClients`),
        }),
      },
    )
    return tls ? [[name, tls]] : []
  })
  return Object.fromEntries(read)
}

/** Warns in the log once for all events of a kind that come close together. */
export function warnings(log: Logger, nowMs: () => number): PartsOfDoor<never>['warn'] {
  const episodes = new Episodes(nowMs)
  return (kind, text, fields) => {
    if (episodes.begins(kind)) log.warn(fields, text)
  }
}

/** The file descriptors for connections; warns where they do not suffice for those that the options allow. */
function descriptorsFor(config: Config, log: Logger): Descriptors {
  const limit = openFilesLimit()
  const descriptors = new Descriptors(limit)
  const open = rows.filter(({ name }) => config[`${name}Port`] !== 'off').length
  const wanted = open * config.maxConnections
  if (wanted > descriptors.max) {
    log.warn(
      { limit, wanted },
      `This process may open ${limit} files, which suffices for ${descriptors.max} connections, and ${flagOf('maxConnections')} allows ${wanted} at its ${open} doors: raise the limit (ulimit -n, LimitNOFILE of systemd), or lower the option.`,
    )
  }
  return descriptors
}

/** Inputs of the doors. */
export interface DoorParts extends Pick<
  PartsOfDoor<Config>,
  'version' | 'payloadRuleOf' | 'shutdown' | 'verbosity' | 'acted'
> {
  readonly config: Config
  readonly tls: PortTls
  readonly log: Logger
  /** Opens the ports, where no other process does. By this process itself. */
  readonly openPort?: OpenPort
}

/** Gives changed certificates and passwords to the doors; open connections continue. */
export function configureDoors(doors: readonly Door[], { config, tls }: Settings): void {
  const certificates: Readonly<Record<string, TlsOptions>> = tls
  for (const door of doors) {
    const row = rows.find(({ name }) => name === door.name)
    const password = row && 'passwordOf' in row ? row.passwordOf(config) : undefined
    const own = certificates[door.name]
    door.configure?.({ ...(own && { tls: own }), ...(password !== undefined && { password }) })
  }
}

/** Builds the enabled doors, in opening order. */
export async function doorsOf(
  parts: DoorParts,
  scheduler: Scheduler,
  hooks: (door: string) => DoorHooks,
): Promise<Door[]> {
  const { config, version, openPort: open, verbosity, log } = parts
  const certificates: Readonly<Record<string, TlsOptions>> = parts.tls
  const { host, maxConnections } = config
  const clock = systemClock
  const turns = new RoundRobin({ whenRoom: (items, task) => scheduler.whenRoom(items, task) })
  const common = {
    settings: config,
    scheduler,
    clock,
    version,
    host,
    maxConnections,
    turns,
    sockets: {
      backlog: config.backlog,
      keepAliveMs: config.keepaliveSeconds * 1000,
      maxPerAddress: config.maxConnectionsPerAddress,
      descriptors: descriptorsFor(config, log),
      ...(open && { open }),
    },
    laneQuota: new LaneQuota({
      scheduler,
      nowMs: () => clock.nowMs(),
      max: config.maxNewFunctionsPerAddress,
    }),
    payloadRuleOf: parts.payloadRuleOf,
    shutdown: parts.shutdown,
    acted: parts.acted,
    ...(verbosity !== undefined && { verbosity }),
  }
  const garbage = new BufferGarbage()
  const doors: Door[] = []
  for (const { name, build } of rows) {
    const port = config[`${name}Port`]
    if (port === 'off') continue
    const tls = certificates[name]
    const connectionLimits = {
      turns,
      garbage,
      dropBytes: config.maxUnsentBytes,
      stallMs: config.stallSeconds * 1000,
      inputBudget: new InputBudget(config.maxBufferedBytes, clock),
    }
    const warn = warnings(log, () => clock.nowMs())
    const own = { port, connectionLimits, hooks: hooks(name), warn, ...(tls && { tls }) }
    doors.push(await build({ ...common, ...own }))
  }
  return doors
}
