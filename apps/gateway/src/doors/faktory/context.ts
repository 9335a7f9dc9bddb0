import type { Clock, Scheduler, StoreError } from '@crossgear/core-scheduler'
import type { OnAct } from '../net/act.ts'
import type { HandshakeFault } from '../net/tls.ts'
import type { Surplus } from '../net/open-port.ts'
import type { RoundRobin } from '../net/round-robin.ts'
import type { WrongPasswords } from '../net/wrong-passwords.ts'
import type { Handshake } from './handshake.ts'
import type { Info } from './info.ts'
import type { OpenLanes, Subscriptions } from './lanes.ts'
import type { PayloadRuleOf } from './translate.ts'
import type { GoingAway, Workers } from './workers.ts'

/** Why a connection was rejected. */
export type Rejection =
  | Surplus
  | HandshakeFault
  | 'silence'
  | 'hello'
  | 'password'
  | 'password_tries'
  | 'new_function_limit'
  | 'queue_full'
  | 'no_workers'
  | 'line'
  | 'dead'
  | 'buffer'
  | 'store'

/** Counts since the door was opened, and state of all its connections. */
export interface DoorState {
  commands: number
  /** No more jobs are handed out. */
  draining: boolean
}

/** State shared by the sessions of a door. */
export interface FaktoryContext {
  readonly scheduler: Scheduler
  readonly clock: Clock
  readonly handshake: Handshake
  readonly wrongPasswords: WrongPasswords
  readonly workers: Workers
  readonly subscriptions: Subscriptions
  readonly lanes: OpenLanes
  readonly info: Info
  readonly state: DoorState
  /** For long requests: they take turns with connections. */
  readonly turns: RoundRobin
  readonly payloadRuleOf: PayloadRuleOf
  readonly maxLineBytes: number
  readonly helloWithinMs: number
  readonly fetchBlocksMs: number
  /** Ids of batches, and of jobs without one. */
  readonly newId: () => string
  readonly mayFlush: (address: string) => boolean
  readonly rejected: (reason: Rejection, address?: string, cause?: StoreError) => void
  /** Notes acts of operators in the audit. */
  readonly acted: OnAct
  /** A worker with jobs is going away. */
  readonly goingAway: (worker: GoingAway) => void
}
