import type { Clock, Scheduler } from '@crossgear/core-scheduler'
import type { PayloadRule } from '@crossgear/fwp-codec'
import type { DropReason } from './connection.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import type { Door } from './door.ts'
import type { LaneQuota } from './lane-quota.ts'
import type { SocketOptions } from './listener.ts'
import type { RoundRobin } from './round-robin.ts'
import type { TlsOptions } from './tls.ts'

/** Is told of a door's connections. */
export interface DoorHooks {
  readonly rejected: (reason: string, address?: string) => void
  /** The gateway ended a connection. */
  readonly dropped: (reason: DropReason, error?: unknown) => void
  /** Reading from a connection was paused. */
  readonly heldBack: () => void
  readonly connected: () => void
  readonly closed: () => void
}

/** Parts that a door is built from. */
export interface DoorParts<Settings> {
  /** The options that the door reads itself. */
  readonly settings: Settings
  readonly scheduler: Scheduler
  readonly clock: Clock
  /** Of the program. */
  readonly version: string
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** With it the port speaks TLS. */
  readonly tls?: TlsOptions
  readonly sockets: SocketOptions
  readonly maxConnections: number
  readonly laneQuota: LaneQuota
  readonly connectionLimits: ConnectionLimits
  /** Turns shared with the connections of other doors. */
  readonly turns: RoundRobin
  readonly hooks: DoorHooks
  /** Warns in the log; of many warnings of one kind once. */
  readonly warn: (kind: string, text: string, fields: object) => void
  /** Translation of a function's payload, as it is now. */
  readonly payloadRuleOf: (fn: string) => PayloadRule
  /** A client asked to stop the gateway. */
  readonly shutdown: (graceful: boolean) => void
  /** How much the log has, as a client may ask. */
  readonly verbosity?: string
}

/** A door in the table of doors: its folder has the rest. */
export interface DoorRow<Settings = never> {
  /** Its name in the store, options, labels of metrics, handed-over sockets and the API. */
  readonly name: string
  /** Its name for people. */
  readonly title: string
  /** The option `--<name>-port`. */
  readonly port: { readonly fallback: number | 'off'; readonly help: string }
  /** `clients`: it can ask them for certificates. */
  readonly tls: 'none' | 'server' | 'clients'
  /** The password of its clients, as it may change while the door is open. None. */
  readonly passwordOf?: (settings: Settings) => string | undefined
  /** True if clients must prove who they are. */
  readonly isGuarded: (settings: Settings) => boolean
  /** A warning for a port that is open to the network, and not guarded. */
  readonly openWarning: string
  /** A command for a client on this machine. */
  readonly trial: (host: string, port: number, hasPassword: boolean) => string
  /** How waiting clients see that a job failed. */
  readonly failure: string
  /** Loads the door: commands of the terminal know only its row. */
  readonly build: (parts: DoorParts<Settings>) => Promise<Door>
}
