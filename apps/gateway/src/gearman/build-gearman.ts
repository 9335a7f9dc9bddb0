import type { DoorParts } from '../net/door-row.ts'
import { readNetworks } from '../net/networks.ts'
import { GearmanDoor } from './gearman-door.ts'
import { type GearmandVersion, gearmandVersions } from './gearmand-version.ts'

/** The options of the gateway that the door reads. */
export interface GearmanSettings {
  readonly gearmandVersion: GearmandVersion
  readonly handlePrefix: string
  readonly maxPacketBytes: number
  readonly maxFunctions: number
  readonly exceptions: boolean
  readonly roundRobin: boolean
  readonly adminFrom: string | undefined
  readonly gearmanTlsCert: string | undefined
  readonly gearmanTlsCa: string | undefined
  readonly gearmanTlsVerifyClients: boolean
}

export function buildGearman(parts: DoorParts<GearmanSettings>): GearmanDoor {
  const { settings, scheduler, host, port, tls, verbosity } = parts
  const { handlePrefix, maxPacketBytes, maxFunctions, adminFrom = '' } = settings
  const gearmand = gearmandVersions[settings.gearmandVersion]
  return new GearmanDoor({
    ...{ scheduler, host, port, handlePrefix, maxPacketBytes, maxFunctions },
    sockets: parts.sockets,
    maxConnections: parts.maxConnections,
    laneQuota: parts.laneQuota,
    connectionLimits: parts.connectionLimits,
    version: gearmand.number,
    exceptionsForAll: settings.exceptions,
    roundRobin: settings.roundRobin || gearmand.alwaysInTurn,
    adminFrom: readNetworks(adminFrom) ?? [],
    shutdown: parts.shutdown,
    ...(verbosity !== undefined && { verbosity }),
    ...(tls && { tls }),
    ...parts.hooks,
  })
}
