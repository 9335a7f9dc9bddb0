import type { Observer } from '@crossgear/core-scheduler'
import type { Logger } from '../log/logger.ts'
import type { DropReason } from '../net/peer.ts'
import type { DoorMetrics } from '../web/metrics.ts'

interface Ears {
  readonly metrics: DoorMetrics
  readonly log: Logger
  readonly observer: Pick<Observer, 'trouble'>
}

/** What a door tells metrics and log of its connections. */
export function doorHooks(door: string, { metrics, log, observer }: Ears) {
  const rejected = (reason: string): void => {
    metrics.rejected(reason)
    log.debug(`Turned away at the ${door} port: ${reason}.`)
  }
  metrics.connectionOpened(0)
  return {
    rejected,
    dropped: (reason: DropReason, error?: unknown): void => {
      rejected(reason)
      if (reason === 'error') observer.trouble(`A ${door} connection`, error)
    },
    heldBack: () => metrics.heldBack(),
    connected: () => metrics.connectionOpened(),
    closed: () => metrics.connectionClosed(),
  }
}
