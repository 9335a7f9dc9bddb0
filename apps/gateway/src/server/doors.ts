import { Scheduler } from '@crossgear/core-scheduler'
import type { Config } from '../config/load-config.ts'
import { flagOf } from '../config/options.ts'
import { FaktoryDoor } from '../faktory/faktory-door.ts'
import type { PayloadRuleOf } from '../faktory/translate.ts'
import type { GoingAway } from '../faktory/workers.ts'
import { GearmanDoor } from '../gearman/gearman-door.ts'
import { gearmandVersions } from '../gearman/gearmand-version.ts'
import { HttpDoor } from '../http/http-door.ts'
import { LaneQuota } from '../net/lane-quota.ts'
import { InputBudget } from '../net/input-budget.ts'
import { systemClock } from '../net/clock.ts'
import type { Door } from '../net/door.ts'
import { ownNames } from '../net/foreign-requests.ts'
import { AdminAccess, readNetworks } from '../net/networks.ts'
import type { OpenPort } from '../net/open-port.ts'
import { RoundRobin } from '../net/round-robin.ts'
import { readTls, type TlsOptions } from '../net/tls.ts'
import { doorHooks } from '../ops/door-hooks.ts'
import { Episodes } from '../log/episodes.ts'
import type { Logger } from '../log/logger.ts'

/** A gateway's configuration, with the contents of the files that it names. */
export interface Settings {
  readonly config: Config
  readonly tls: DoorTls
}

/** The doors that speak TLS, with their options. */
export interface DoorTls {
  readonly gearman?: TlsOptions
  readonly faktory?: TlsOptions
}

/**
 * Reads and checks the TLS files of the configuration.
 *
 * @throws StartError
 */
export function readDoorTls(config: Config): DoorTls {
  const gearman = readTls(
    {
      cert: config.gearmanTlsCert,
      key: config.gearmanTlsKey,
      ca: config.gearmanTlsCa,
      requireClientCert: config.gearmanTlsVerifyClients,
    },
    {
      cert: flagOf('gearmanTlsCert'),
      key: flagOf('gearmanTlsKey'),
      ca: flagOf('gearmanTlsCa'),
      requireClientCert: flagOf('gearmanTlsVerifyClients'),
    },
  )
  const faktory = readTls(
    { cert: config.faktoryTlsCert, key: config.faktoryTlsKey },
    { cert: flagOf('faktoryTlsCert'), key: flagOf('faktoryTlsKey') },
  )
  return { ...(gearman && { gearman }), ...(faktory && { faktory }) }
}

const goingAwayTexts: Readonly<Record<GoingAway['how'], string>> = {
  quiet: 'A quiet Faktory worker got one more job: its FETCH was in progress.',
  terminate: 'A terminating Faktory worker got one more job: its FETCH was in progress.',
  gone: 'A Faktory worker left with unfinished jobs: they stay leased until reserve_for is over.',
}

/** Warns of workers that go away with jobs: once, since a deploy ends many of them. */
export function warnOfGoingAway(log: Logger, nowMs: () => number): (worker: GoingAway) => void {
  const episodes = new Episodes(nowMs)
  return ({ wid, how, jobs }) => {
    if (episodes.begins(how)) log.warn({ wid, jobs }, goingAwayTexts[how])
  }
}

/** Inputs of the doors. */
export interface DoorParts {
  readonly config: Config
  readonly version: string
  readonly tls: DoorTls
  readonly log: Logger
  /** Translation of a function's payload, as it is now. */
  readonly payloadRuleOf: PayloadRuleOf
  /** Called for the text command `shutdown` of the Gearman port. */
  readonly shutdown: (graceful: boolean) => void
  /** The answer to the Gearman text command `verbose`. ERROR. */
  readonly verbosity?: string
  /** Opens the ports, where no other process does. By this process itself. */
  readonly openPort?: OpenPort
}

/** Gives changed certificates and passwords to the doors; open connections continue. */
export function configureDoors(doors: readonly Door[], { config, tls }: Settings): void {
  for (const door of doors) {
    if (door instanceof GearmanDoor && tls.gearman) door.renewTls(tls.gearman)
    if (door instanceof FaktoryDoor) {
      const { faktoryPassword: password } = config
      door.configure({
        ...(tls.faktory && { tls: tls.faktory }),
        ...(password !== undefined && { password }),
      })
    }
  }
}

/** Builds the enabled doors, in opening order. */
export function doorsOf(
  parts: DoorParts,
  scheduler: Scheduler,
  hooks: (door: 'gearman' | 'faktory' | 'http') => ReturnType<typeof doorHooks>,
): Door[] {
  const { config, version, tls, openPort: open, log } = parts
  const gearmand = gearmandVersions[config.gearmandVersion]
  const { host, handlePrefix, maxConnections, maxPacketBytes } = config
  const sockets = {
    backlog: config.backlog,
    keepAliveMs: config.keepaliveSeconds * 1000,
    maxPerAddress: config.maxConnectionsPerAddress,
    ...(open && { open }),
  }
  const laneQuota = new LaneQuota({
    scheduler,
    nowMs: () => systemClock.nowMs(),
    max: config.maxNewFunctionsPerAddress,
  })
  const common = { scheduler, host, maxConnections, sockets, laneQuota }
  const turns = new RoundRobin({ whenRoom: (items, task) => scheduler.whenRoom(items, task) })
  const connectionLimits = () => ({
    turns,
    dropBytes: config.maxUnsentBytes,
    stallMs: config.stallSeconds * 1000,
    inputBudget: new InputBudget(config.maxBufferedBytes),
  })
  const adminFrom = config.adminFrom === undefined ? [] : (readNetworks(config.adminFrom) ?? [])
  const admins = new AdminAccess(adminFrom)
  const doors: Door[] = []
  if (config.gearmanPort !== 'off') {
    const options = {
      ...{ ...common, port: config.gearmanPort, handlePrefix, maxPacketBytes },
      version: gearmand.number,
      connectionLimits: connectionLimits(),
      exceptionsForAll: config.exceptions,
      roundRobin: config.roundRobin || gearmand.alwaysInTurn,
      maxFunctions: config.maxFunctions,
      adminFrom,
      shutdown: parts.shutdown,
      ...(parts.verbosity !== undefined && { verbosity: parts.verbosity }),
      ...(tls.gearman && { tls: tls.gearman }),
      ...hooks('gearman'),
    }
    doors.push(new GearmanDoor(options))
  }
  if (config.faktoryPort !== 'off') {
    const options = {
      ...{ ...common, version, port: config.faktoryPort, maxLineBytes: maxPacketBytes },
      connectionLimits: connectionLimits(),
      clock: systemClock,
      helloWithinMs: config.handshakeSeconds * 1000,
      payloadRuleOf: parts.payloadRuleOf,
      passwordTries: config.faktoryPasswordTries,
      mayFlush: (address: string) => admins.allows(address),
      goingAway: warnOfGoingAway(log, () => systemClock.nowMs()),
      ...(config.faktoryPassword !== undefined && { password: config.faktoryPassword }),
      ...(tls.faktory && { tls: tls.faktory }),
      ...hooks('faktory'),
    }
    doors.push(new FaktoryDoor(options))
  }
  if (config.httpPort !== 'off') {
    const options = {
      ...{ ...common, port: config.httpPort, handlePrefix, maxBodyBytes: maxPacketBytes },
      version: gearmand.number,
      hostNames: ownNames(config.allowedHosts, host),
      maxBufferedBytes: config.maxBufferedBytes,
      stallMs: config.stallSeconds * 1000,
      turns,
      ...hooks('http'),
    }
    doors.push(new HttpDoor(options))
  }
  return doors
}
