import type { Assignment } from '@crossgear/core-scheduler'

/** A worker of this node, as operators see it: a connection, or all with one wid. */
export interface ConnectedWorker {
  /** The name of the worker among the workers of this node; never reused. */
  readonly name: string
  /** The name of its door. */
  readonly door: string
  /** The name that it gave itself: a Gearman client id or a Faktory wid; else empty. */
  readonly calledItself: string
  readonly wid?: string | undefined
  /** Address and port of its first connection; absent: none is left. */
  readonly address?: string | undefined
  readonly hostname?: string | undefined
  readonly pid?: number | undefined
  readonly labels: readonly string[]
  readonly state: 'running' | 'quiet' | 'terminate'
  /** Functions that it named, and queues that it fetches from. */
  readonly functions: readonly string[]
  readonly queues: readonly string[]
  readonly connections: number
  /** 0: it did not say. */
  readonly rssKb: number
  /** Time of its last BEAT by the clock of this node, milliseconds. */
  readonly lastBeatMs?: number | undefined
  /** When it closed its last connection, by the clock of this node, milliseconds; absent: it did not. */
  readonly goneMs?: number | undefined
  /** The jobs of the worker, the oldest first; some may have ended at another node. */
  readonly jobs: Iterable<Assignment>
}
