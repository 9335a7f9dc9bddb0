import type { Observer } from '@crossgear/core-scheduler'
import { flagOf } from '../config/options.ts'
import { systemClock } from '../net/clock.ts'
import type { DropReason } from '../net/connection.ts'
import { Episodes } from './log/episodes.ts'
import type { Logger } from './log/logger.ts'
import type { DoorMetrics } from './metrics/metrics.ts'

/** Bounds shared by all peers, or that cost a connection, by their reason in the metrics. */
const limits: Readonly<Record<string, string>> = {
  connections: `the most connections are open (${flagOf('maxConnections')})`,
  address_connections: `an address has its most connections (${flagOf('maxConnectionsPerAddress')})`,
  slow: `a client did not read its replies, and was dropped (${flagOf('maxUnsentBytes')}, ${flagOf('stallSeconds')})`,
  buffer: `incomplete packets fill the input buffer (${flagOf('maxBufferedBytes')})`,
  busy: `request bodies fill the buffer (${flagOf('maxBufferedBytes')})`,
  packet_too_large: `a packet is too large (${flagOf('maxPacketBytes')})`,
  line: `a line is too long (${flagOf('maxPacketBytes')})`,
  body_too_large: `a body is too large (${flagOf('maxPacketBytes')})`,
  outcome_too_large: `an outcome is too large (${flagOf('maxPacketBytes')})`,
  line_too_long: 'a text command is too long',
  head_too_large: 'the head of a request is over 16 KiB',
  pipeline: 'a client sent too many requests ahead of their answers',
  too_many_functions: `a worker named too many functions (${flagOf('maxFunctions')})`,
  queue_full: 'the queue of a function is full (text command maxqueue)',
  password_tries: `an address sent too many wrong passwords (${flagOf('faktoryPasswordTries')})`,
}

interface Ears {
  readonly metrics: DoorMetrics
  readonly log: Logger
  readonly observer: Pick<Observer, 'error'>
  /** This process's clock. */
  readonly nowMs?: () => number
}

/** Reports a door's connections to metrics and log. */
export function doorHooks(
  door: string,
  { metrics, log, observer, nowMs = () => systemClock.nowMs() }: Ears,
) {
  const episodes = new Episodes(nowMs)
  /** Reasons of connections that the gateway ended and that have not closed yet. */
  const endings: string[] = []
  const rejected = (reason: string, address?: string): void => {
    metrics.rejected(reason)
    log.debug(`Rejected at the ${door} port: ${reason}.`)
    const limit = limits[reason]
    if (limit === undefined || !episodes.begins(reason)) return
    const from = address === undefined ? '' : ` The first came from ${address}.`
    log.warn(`A limit of the ${door} port is reached: ${limit}.${from}`)
  }
  return {
    rejected,
    dropped: (reason: DropReason, error?: unknown): void => {
      rejected(reason)
      endings.push(reason)
      if (reason === 'error') observer.error(`A ${door} connection`, error)
    },
    heldBack: () => metrics.heldBack(),
    connected: () => metrics.connectionOpened(),
    closed: () => metrics.connectionClosed(endings.shift()),
  }
}
