import type { Loss } from '../model/job.ts'

/** The answer to a heartbeat. */
export interface HeartbeatReply {
  /** The store's clock, milliseconds since 1970. */
  readonly nowMs: number
  /** Last heartbeats of the other nodes: a figure that changes with every beat. */
  readonly heartbeats: ReadonlyMap<string, number>
  /** True if another node took this one for dead: its worker counts and waiters are gone. */
  readonly wasReclaimed: boolean
}

/** The part of the store by which nodes come, live and go. */
export interface NodeStore {
  beat(): Promise<HeartbeatReply>
  /**
   * Requeues the Gearman leases of a dead node, each as a lost worker (given up at `maxLosses`; 0:
   * never); removes its worker counts and waiters. Returns the lanes that got jobs.
   */
  reclaim(node: string, lanes: readonly string[], loss: Loss): Promise<readonly string[]>
  /** Stores again how many clients of this node wait for these unfinished jobs. */
  waitAgain(lane: string, clients: ReadonlyMap<number, number>): Promise<void>
  /** Leaves the nodes: removes worker counts, and requeues jobs still leased. */
  leave(lanes: readonly string[]): Promise<void>
}
