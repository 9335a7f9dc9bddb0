import { type GearmandVersion, gearmandVersions } from '../gearman/gearmand-version.ts'
import { type DoorParts, portOptionsOf } from '../net/door-row.ts'
import { ownNames } from '../net/foreign-requests.ts'
import { HttpDoor } from './http-door.ts'

/** The options of the gateway that the door reads. */
export interface HttpSettings {
  readonly gearmandVersion: GearmandVersion
  readonly handlePrefix: string
  readonly maxPacketBytes: number
  readonly maxBufferedBytes: number
  readonly stallSeconds: number
  readonly allowedHosts: string | undefined
}

export function buildHttp(parts: DoorParts<HttpSettings>): HttpDoor {
  const { settings, turns } = parts
  return new HttpDoor({
    ...portOptionsOf(parts),
    turns,
    handlePrefix: settings.handlePrefix,
    version: gearmandVersions[settings.gearmandVersion].number,
    maxBodyBytes: settings.maxPacketBytes,
    maxBufferedBytes: settings.maxBufferedBytes,
    stallMs: settings.stallSeconds * 1000,
    hostNames: ownNames(settings.allowedHosts, parts.host),
  })
}
