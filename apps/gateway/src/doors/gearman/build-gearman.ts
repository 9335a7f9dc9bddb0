import { type DoorParts, portOptionsOf } from '../net/door-row.ts'
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
  const { settings, verbosity } = parts
  const { handlePrefix, maxPacketBytes, maxFunctions, adminFrom = '' } = settings
  const gearmand = gearmandVersions[settings.gearmandVersion]
  return new GearmanDoor({
    ...portOptionsOf(parts),
    handlePrefix,
    maxPacketBytes,
    maxFunctions,
    version: gearmand.number,
    exceptionsForAll: settings.exceptions,
    roundRobin: settings.roundRobin || gearmand.alwaysInTurn,
    adminFrom: readNetworks(adminFrom) ?? [],
    shutdown: parts.shutdown,
    acted: parts.acted,
    ...(verbosity !== undefined && { verbosity }),
  })
}
