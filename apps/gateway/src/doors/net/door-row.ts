import type { Socket } from 'node:net'
import type { Clock, Scheduler, StoreError } from '@crossgear/core-scheduler'
import type { PayloadRule } from '@crossgear/fwp-codec'
import type { OnAct } from './act.ts'
import type { DropReason } from './connection.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import type { Door } from './door.ts'
import type { LaneQuota } from './lane-quota.ts'
import type { SocketOptions } from './listener.ts'
import type { Surplus } from './open-port.ts'
import type { RoundRobin } from './round-robin.ts'
import type { TlsOptions } from './tls.ts'

/** Reports about a door's connections. Defaults to none. */
export interface ConnectionReports<Reason extends string = string> {
  /** `cause`: the error of a store that refused. */
  readonly rejected?: (reason: Reason, address?: string, cause?: StoreError) => void
  /** The gateway ended a connection that did not read, or whose handler failed. */
  readonly dropped?: (reason: DropReason, error?: unknown) => void
  /** Reading from a connection was paused: see {@link ConnectionLimits}. */
  readonly heldBack?: () => void
  readonly connected?: () => void
  readonly closed?: () => void
}

export type DoorHooks = Required<ConnectionReports>

/** The place of a door's port, and its most connections. */
interface PortParts {
  readonly scheduler: Scheduler
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** Connections at once; one more is closed. */
  readonly maxConnections: number
  /** With it the port speaks TLS alone. Plain text. */
  readonly tls?: TlsOptions
}

/** Options of every door. Defaults at the end of each line. */
export interface PortOptions<Reason extends string> extends PortParts, ConnectionReports<Reason> {
  /** Backlog and keepalive of the port. */
  readonly sockets?: SocketOptions
  /** Bounds the functions that an address brings into being. Any number. */
  readonly laneQuota?: Pick<LaneQuota, 'admits'>
  /** Bounds of a connection's buffers. */
  readonly connectionLimits?: ConnectionLimits
}

/** Parts that a door is built from. */
export interface DoorParts<Settings> extends PortParts {
  /** The options that the door reads itself. */
  readonly settings: Settings
  readonly clock: Clock
  /** Of the program. */
  readonly version: string
  readonly sockets: SocketOptions
  readonly laneQuota: LaneQuota
  readonly connectionLimits: ConnectionLimits
  /** Turns shared with the connections of other doors. */
  readonly turns: RoundRobin
  readonly hooks: DoorHooks
  /** Warns in the log; of many warnings of one kind once. */
  readonly warn: (kind: string, text: string, fields: object) => void
  /** Translation of a function's payload, as it is now. */
  readonly payloadRuleOf: (fn: string) => PayloadRule
  /** Notes acts of operators in the audit. */
  readonly acted: OnAct
  /** A client asked to stop the gateway. */
  readonly shutdown: (graceful: boolean) => void
  /** How much the log has, as a client may ask. */
  readonly verbosity?: string
}

/** The options of a door's port. */
export function portOptionsOf(parts: DoorParts<unknown>): PortOptions<string> {
  const { scheduler, host, port, maxConnections, sockets, tls, laneQuota } = parts
  return {
    scheduler,
    host,
    port,
    maxConnections,
    sockets,
    laneQuota,
    ...(tls && { tls }),
    connectionLimits: parts.connectionLimits,
    ...parts.hooks,
  }
}

/** The options of a door's listener that are those of its port. */
export function listenerOptionsOf(options: PortOptions<Surplus>) {
  const { host, port, maxConnections, sockets, tls, rejected, connected, closed } = options
  return {
    host,
    port,
    maxConnections,
    ...(sockets && { sockets }),
    ...(tls && { tls }),
    ...(connected && { opened: connected }),
    ...(closed && { closed }),
    refuse: (socket: Socket, surplus: Surplus) => rejected?.(surplus, socket.remoteAddress),
  }
}

/** An open port, for a command that shows it at work. */
export interface TriedPort {
  readonly host: string
  readonly port: number
  readonly hasPassword: boolean
  /** The port speaks TLS. */
  readonly tls: boolean
}

/** A door in the table of doors: its folder has the rest. */
export interface DoorRow<Settings = never> {
  /** The name of the door in the store, options, labels of metrics, handed-over sockets and the API. */
  readonly name: string
  /** The name of the door for people. */
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
  readonly trial: (port: TriedPort) => string
  /** How waiting clients see that a job failed. */
  readonly failure: string
  /** Loads the door: commands of the terminal know only its row. */
  readonly build: (parts: DoorParts<Settings>) => Promise<Door>
}
