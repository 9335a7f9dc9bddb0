import type { Scheduler } from '@crossgear/core-scheduler'
import type { LaneQuota } from '../net/lane-quota.ts'
import type { SocketOptions } from '../net/listener.ts'
import type { DropReason } from '../net/connection.ts'
import type { ConnectionLimits } from '../net/connection-limits.ts'
import type { TlsOptions } from '../net/tls.ts'
import type { RejectReason } from './replies.ts'

/** Options of the door. Defaults at the end of each line. */
export interface GearmanDoorOptions {
  readonly scheduler: Scheduler
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** Connections at once; one more is closed. */
  readonly maxConnections: number
  /** Backlog and keepalive of the port. */
  readonly sockets?: SocketOptions
  /** With it the port speaks only TLS. Plain text. */
  readonly tls?: TlsOptions
  /** Largest data part of a packet, bytes. 64 MiB. */
  readonly maxPacketBytes?: number
  /** Longest text line with its end, bytes. 8192. */
  readonly maxLineBytes?: number
  /** Most functions per worker: each claim looks through all of them. 1000. */
  readonly maxFunctions?: number
  /** Bounds the functions that an address brings into being. Any number. */
  readonly laneQuota?: Pick<LaneQuota, 'admits'>
  /** Bounds of a connection's buffers. */
  readonly connectionLimits?: ConnectionLimits
  /** Prefix of handles, such as `H:host`; cut at 38 bytes. */
  readonly handlePrefix: string
  /** Answer to the text command `version`. */
  readonly version: string
  /** Answer to the text command `verbose`. ERROR. */
  readonly verbosity?: string
  /** Clients get exceptions without asking for them. false. */
  readonly exceptionsForAll?: boolean
  /** The function of a worker's last job is tried last. false. */
  readonly roundRobin?: boolean
  /** Addresses and networks besides loopback whose text commands may change something. None. */
  readonly adminFrom?: readonly string[]

  /** The text command `shutdown` came. */
  readonly shutdown?: (graceful: boolean) => void
  readonly rejected?: (reason: RejectReason, address?: string) => void
  /** The gateway ended a connection that did not read, or whose handler failed. */
  readonly dropped?: (reason: DropReason, error?: unknown) => void
  /** Reading from a connection was paused: see {@link ConnectionLimits}. */
  readonly heldBack?: () => void
  readonly connected?: () => void
  readonly closed?: () => void
}
