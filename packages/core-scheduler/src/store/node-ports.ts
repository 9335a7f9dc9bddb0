import type { LeasedRef, Loss } from '../model/job.ts'
import type { StoreError } from '../model/store-errors.ts'
import type { DroppedJob } from './claim-ports.ts'

/** The answer to a heartbeat. */
export interface HeartbeatReply {
  /** The store's clock, milliseconds since 1970. */
  readonly nowMs: number
  /** Last heartbeats of the other nodes: a figure that changes with every beat. */
  readonly heartbeats: ReadonlyMap<string, number>
  /**
   * True if the store may lack what this node stored: another node took it for dead, the store was emptied, or it has other
   * data than before, as after a failover or a restart.
   */
  readonly wasReset: boolean
  /** How many lanes are registered. */
  readonly lanes: number
}

/** The reclaim of a dead node in some lanes. */
export interface Reclaimed {
  /** Lanes that got jobs. */
  readonly woken: readonly string[]
  /** Jobs that were put back into these. */
  readonly requeued: number
  /** Lanes that are left, and why. */
  readonly refused: ReadonlyMap<string, StoreError>
  /** Leases of its consumers, which stand. */
  readonly consumed: readonly LeasedRef[]
  /** Jobs of its by-name workers that ended with it. */
  readonly dropped: readonly DroppedJob[]
}

/** The part of the store by which nodes come, live and go. */
export interface NodeStore {
  beat(): Promise<HeartbeatReply>
  /**
   * Notes that a node is dead, until {@link endReclaim} or until it has learnt of that by a heartbeat. False if another
   * living node reclaims it.
   */
  declareDead(node: string): Promise<boolean>
  /**
   * Requeues the Gearman leases of a dead node, each as a lost worker; removes its worker counts and
   * waiters. Harmless if repeated. One refused lane does not keep the others.
   */
  reclaim(node: string, lanes: readonly string[], loss: Loss): Promise<Reclaimed>
  /** Nodes with worker counts in these lanes, or with leases of by-name workers, of which those begun first count. */
  inLanes(lanes: readonly string[]): Promise<readonly string[]>
  /** Forgets the node if the reclaim is complete and it did not come back meanwhile; else it may be declared dead again. */
  endReclaim(node: string, isComplete: boolean): Promise<void>
  /** Stores again how many clients of this node wait for these unfinished jobs. */
  waitAgain(lane: string, clients: ReadonlyMap<number, number>): Promise<void>
  /** Leaves the nodes: removes worker counts, and requeues jobs still leased. */
  leave(lanes: readonly string[]): Promise<void>
}
