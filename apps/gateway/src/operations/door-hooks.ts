import type { Observer, StoreError, StoreErrorCode } from '@crossgear/core-scheduler'
import { flagOf } from '../config/options.ts'
import { systemClock } from '../doors/net/clock.ts'
import type { DropReason } from '../doors/net/connection.ts'
import { Episodes } from '../config/log/episodes.ts'
import type { Logger } from '../config/log/logger.ts'
import type { LatestRefusal } from './refused-writes.ts'
import type { DoorMetrics } from './metrics/metrics.ts'
import type { WebLimit } from './web-limits.ts'

/** Limits of docs/reference/limits.md, by their reason in the metrics. */
const limits: Readonly<Record<string, string>> = {
  connections: `the most connections are open (${flagOf('maxConnections')})`,
  address_connections: `an address has its most connections (${flagOf('maxConnectionsPerAddress')})`,
  file_descriptors:
    'the process may open no more files (ulimit -n; LimitNOFILE of systemd), and new connections are closed',
  slow: `a client did not read its replies, and was dropped (${flagOf('maxUnsentBytes')}, ${flagOf('stallSeconds')})`,
  buffer: `packets, requests and names fill the input buffer (${flagOf('maxBufferedBytes')})`,
  busy: `request bodies fill the buffer (${flagOf('maxBufferedBytes')})`,
  packet_too_large: `a packet is too large (${flagOf('maxPacketBytes')})`,
  line: `a line is too long (${flagOf('maxPacketBytes')})`,
  body_too_large: `a body is too large (${flagOf('maxPacketBytes')})`,
  outcome_too_large: `an outcome is too large (${flagOf('maxPacketBytes')})`,
  line_too_long: 'a text command is too long',
  head_too_large: 'the head of a request is over 16 KiB',
  pipeline: 'a client sent too many requests ahead of their answers',
  too_many_functions: `a worker named too many functions (${flagOf('maxFunctions')})`,
  new_function_limit: `an address brought too many functions into being (${flagOf('maxNewFunctionsPerAddress')})`,
  queue_full:
    'the queue of a function is full (text command maxqueue, or max_waiting of its route)',
  no_workers:
    'no worker is there for a function whose route refuses its jobs then (without_workers)',
  password_tries: `an address sent too many wrong passwords (${flagOf('faktoryPasswordTries')})`,
  tls_slow: 'a TLS handshake took over 10 s',
  too_slow: 'a request did not come in time',
  silence: `a client sent no HELLO in time (${flagOf('handshakeSeconds')})`,
  dead: 'a worker sent no BEAT for 60 s',
  hello: 'a HELLO was invalid',
  empty_function: 'the name of a function is empty',
  function_not_utf8: 'the name of a function is not UTF-8',
  function_too_large: 'the name of a function is over 512 bytes',
  unique_too_large: 'a unique id or a reducer is over 64 bytes',
  not_allowed: `a text command came from another machine (${flagOf('adminFrom')})`,
}

/** The web port has limits of its own, most of them without an option. */
const webLimits: Readonly<Record<WebLimit, string | undefined>> = {
  connections: 'the most connections are open (1,000)',
  address_connections: 'an address has its most connections (500)',
  file_descriptors: undefined,
  head_too_large: limits['head_too_large'],
  malformed: undefined,
  too_slow: limits['too_slow'],
  tls_handshake: undefined,
  tls_slow: limits['tls_slow'],
  slow: 'a viewer did not read its events, and was dropped',
  body_too_large: 'the body of a call is over 1 MiB',
  password_tries: `an address sent too many wrong passwords (${flagOf('webPasswordTries')})`,
  too_many_calls: 'too many calls of the API wait for their turn',
  too_much_work: 'calls of the API take too much work',
  too_many_viewers: 'the most viewers of events are there (100)',
}

/** Errors of the store that no other line of the log tells. */
const untold: ReadonlySet<StoreErrorCode> = new Set(['REFUSED', 'TIMEOUT', 'TOO_MANY_LANES'])

interface Ears {
  readonly metrics: DoorMetrics
  readonly log: Logger
  readonly observer: Pick<Observer, 'error'>
  readonly latestRefusal?: LatestRefusal
  /** This process's clock. */
  readonly nowMs?: () => number
}

/** Reports a door's connections to metrics and log. */
export function doorHooks(
  door: string,
  { metrics, log, observer, latestRefusal, nowMs = () => systemClock.nowMs() }: Ears,
) {
  const episodes = new Episodes(nowMs)
  const storeRefused = (cause: StoreError): void => {
    latestRefusal?.note(cause)
    // The task has one name at all doors: their refusals have one cause, and one line.
    if (untold.has(cause.code)) observer.error('What clients ask for', cause)
  }
  const own: Readonly<Record<string, string | undefined>> = door === 'web' ? webLimits : limits
  /** Reasons of connections that the gateway ended and that have not closed yet. */
  const endings: string[] = []
  const rejected = (reason: string, address?: string, cause?: StoreError): void => {
    metrics.rejected(reason)
    log.debug(`Rejected at the ${door} port: ${reason}.`)
    if (cause) storeRefused(cause)
    const limit = own[reason]
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
