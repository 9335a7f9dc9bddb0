import { type DoorParts, portOptionsOf } from '../net/door-row.ts'
import { AdminAccess, readNetworks } from '../net/networks.ts'
import { FaktoryDoor } from './faktory-door.ts'
import type { GoingAway } from './workers.ts'

/** The options of the gateway that the door reads. */
export interface FaktorySettings {
  readonly faktoryPassword: string | undefined
  readonly faktoryPasswordTries: number
  readonly faktoryDeadWorkerRequeue: 'others' | 'gone' | 'all'
  readonly handshakeSeconds: number
  readonly maxPacketBytes: number
  readonly adminFrom: string | undefined
}

const goingAwayTexts: Readonly<Record<GoingAway['how'] | 'back', string>> = {
  quiet: 'A quiet Faktory worker got one more job: its FETCH was in progress.',
  terminate: 'A terminating Faktory worker got one more job: its FETCH was in progress.',
  gone: 'A Faktory worker left with unfinished jobs: they stay leased until reserve_for is over.',
  'cut off':
    'A Faktory worker lost its connections with unfinished jobs, perhaps as one of them keeps it busy: they stay leased until reserve_for is over.',
  back: 'A Faktory worker left with unfinished jobs: unless it comes back within 60 s, others get them.',
}

/** Warns of workers that go away with jobs: once, since a deploy ends many of them. */
export function warnOfGoingAway(
  warn: DoorParts<FaktorySettings>['warn'],
  givesBack: boolean,
): (worker: GoingAway) => void {
  return ({ wid, how, jobs }) => {
    const isBack = how === 'gone' && givesBack && wid !== undefined
    warn(how, goingAwayTexts[isBack ? 'back' : how], { wid, jobs })
  }
}

export function buildFaktory(parts: DoorParts<FaktorySettings>): FaktoryDoor {
  const { settings, clock, version, payloadRuleOf } = parts
  const { faktoryPassword: password, adminFrom = '' } = settings
  const givesBack = settings.faktoryDeadWorkerRequeue !== 'others'
  const admins = new AdminAccess(readNetworks(adminFrom) ?? [])
  return new FaktoryDoor({
    ...portOptionsOf(parts),
    clock,
    version,
    payloadRuleOf,
    maxLineBytes: settings.maxPacketBytes,
    helloWithinMs: settings.handshakeSeconds * 1000,
    passwordTries: settings.faktoryPasswordTries,
    givesBack,
    mayFlush: (address) => admins.allows(address),
    goingAway: warnOfGoingAway(parts.warn, givesBack),
    acted: parts.acted,
    ...(password !== undefined && { password }),
  })
}
