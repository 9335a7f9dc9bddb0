import type { Clock, Scheduler } from '@crossgear/core-scheduler'
import type { Surplus } from '../net/open-port.ts'
import type { WrongPasswords } from '../net/wrong-passwords.ts'
import type { Handshake } from './handshake.ts'
import type { Info } from './info.ts'
import type { OpenLanes, Subscriptions } from './lanes.ts'
import type { PayloadRuleOf } from './translate.ts'
import type { GoingAway, Workers, WorkerState } from './workers.ts'

/** Why a connection was rejected. */
export type Rejection =
  Surplus | 'tls_handshake' | 'silence' | 'hello' | 'password' | 'password_tries' | 'line' | 'dead'

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
  readonly peerProcesses: PeerProcesses
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
  /** A worker with jobs is going away. */
  readonly goingAway: (worker: GoingAway) => void
}

/**
 * Messages between Faktory doors that share a port: connections of one worker, or of one address,
 * may be at any of them.
 */
export type FaktoryNews =
  | { readonly kind: 'wrong-password'; readonly address: string }
  /** A worker is alive, and may have changed its state. */
  | {
      readonly kind: 'beat'
      readonly wid: string
      readonly rssKb?: number
      readonly state?: WorkerState
    }

/** The channel to the other processes. */
export interface PeerProcesses {
  notify(news: FaktoryNews): void
  /** Subscribes to the others' messages. */
  onNews(listener: (news: FaktoryNews) => void): void
}

/** For a door that does not share its port. */
export const noPeerProcesses: PeerProcesses = {
  notify: () => undefined,
  onNews: () => undefined,
}
