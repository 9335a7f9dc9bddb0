import type { Clock, Scheduler } from '@crossgear/core-scheduler'
import type { Surplus } from '../net/open-port.ts'
import type { Greeter } from './greeting.ts'
import type { Info } from './info.ts'
import type { Subscriptions } from './subscriptions.ts'
import type { Neighbours } from './neighbours.ts'
import type { OpenLanes } from './open-lanes.ts'
import type { PayloadRuleOf } from './translate.ts'
import type { GoingAway, Workers } from './workers.ts'
import type { WrongPasswords } from './wrong-passwords.ts'

/** Why a connection was turned away. */
export type Rejection =
  Surplus | 'tls_handshake' | 'silence' | 'hello' | 'password' | 'password_tries' | 'line' | 'dead'

/** Counts since the door was opened, and what holds for all its connections. */
export interface DoorState {
  commands: number
  /** No more jobs are handed out. */
  draining: boolean
}

/** What the sessions of a door share. */
export interface FaktoryContext {
  readonly scheduler: Scheduler
  readonly clock: Clock
  readonly greeter: Greeter
  readonly wrongPasswords: WrongPasswords
  readonly workers: Workers
  readonly neighbours: Neighbours
  readonly subscriptions: Subscriptions
  readonly lanes: OpenLanes
  readonly info: Info
  readonly state: DoorState
  readonly payloadRuleOf: PayloadRuleOf
  readonly maxLineBytes: number
  readonly helloWithinMs: number
  readonly fetchBlocksMs: number
  readonly mayFlush: (address: string) => boolean
  readonly rejected: (reason: Rejection, address?: string) => void
  /** A worker that is going away has jobs. */
  readonly goingAway: (worker: GoingAway) => void
}
