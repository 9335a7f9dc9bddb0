import { type DoorParts, portOptionsOf } from '../net/door-row.ts'
import { AdminAccess, readNetworks } from '../net/networks.ts'
import { FaktoryDoor } from './faktory-door.ts'
import type { GoingAway } from './workers.ts'

/** The options of the gateway that the door reads. */
export interface FaktorySettings {
  readonly faktoryPassword: string | undefined
  readonly faktoryPasswordTries: number
  readonly handshakeSeconds: number
  readonly maxPacketBytes: number
  readonly adminFrom: string | undefined
}

const goingAwayTexts: Readonly<Record<GoingAway['how'], string>> = {
  quiet: 'A quiet Faktory worker got one more job: its FETCH was in progress.',
  terminate: 'A terminating Faktory worker got one more job: its FETCH was in progress.',
  gone: 'A Faktory worker left with unfinished jobs: they stay leased until reserve_for is over.',
}

/** Warns of workers that go away with jobs: once, since a deploy ends many of them. */
export function warnOfGoingAway(
  warn: DoorParts<FaktorySettings>['warn'],
): (worker: GoingAway) => void {
  return ({ wid, how, jobs }) => warn(how, goingAwayTexts[how], { wid, jobs })
}

export function buildFaktory(parts: DoorParts<FaktorySettings>): FaktoryDoor {
  const { settings, clock, version, payloadRuleOf } = parts
  const { faktoryPassword: password, adminFrom = '' } = settings
  const admins = new AdminAccess(readNetworks(adminFrom) ?? [])
  return new FaktoryDoor({
    ...{ ...portOptionsOf(parts), clock, version, payloadRuleOf },
    maxLineBytes: settings.maxPacketBytes,
    helloWithinMs: settings.handshakeSeconds * 1000,
    passwordTries: settings.faktoryPasswordTries,
    mayFlush: (address) => admins.allows(address),
    goingAway: warnOfGoingAway(parts.warn),
    ...(password !== undefined && { password }),
  })
}
