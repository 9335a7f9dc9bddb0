import type { Clock, Scheduler } from '@crossgear/core-scheduler'
import type { Surplus } from '../net/open-port.ts'
import type { Handshake, WrongPasswords } from './handshake.ts'
import type { Info } from './info.ts'
import type { OpenLanes, Subscriptions } from './lanes.ts'
import type { PayloadRuleOf } from './translate.ts'
import type { GoingAway, Workers, WorkerState } from './workers.ts'

/** Why a connection was turned away. */
export type Rejection =
  Surplus | 'tls_handshake' | 'silence' | 'hello' | 'password' | 'password_tries' | 'line' | 'dead'

/** Counts since the door was opened, and what holds for all its connections. */
export interface DoorState {
  commands: number
  /** No more jobs are handed out. */
  draining: boolean
}

/** State that the sessions of a door share. */
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
  /** A worker that is going away has jobs. */
  readonly goingAway: (worker: GoingAway) => void
}

/**
 * Messages between Faktory doors that share a port: the connections of one worker,
 * or of one address, may be anywhere among them.
 */
export type FaktoryNews =
  | { readonly kind: 'wrong-password'; readonly address: string }
  /** A worker lives, and may have gone on to another state. */
  | {
      readonly kind: 'beat'
      readonly wid: string
      readonly rssKb?: number
      readonly state?: WorkerState
    }

/** The way to the others. */
export interface PeerProcesses {
  notify(news: FaktoryNews): void
  /** Names who hears what the others tell. */
  onNews(listener: (news: FaktoryNews) => void): void
}

/** A door that has its port alone. */
export const noPeerProcesses: PeerProcesses = {
  notify: () => undefined,
  onNews: () => undefined,
}
