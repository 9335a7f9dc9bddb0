import type { NewBatch } from '@crossgear/core-scheduler'

export type Milestone = 'complete' | 'success'

/** The batch and kind of a callback job. */
export interface CallbackOf {
  readonly bid: string
  readonly what: Milestone
}

/** A batch's record. */
export interface MemoryBatch {
  readonly batch: NewBatch
  readonly createdAtMs: number
  committed: boolean
  total: number
  pending: number
  failed: number
  /** Children that have not reached each milestone. */
  readonly children: Record<Milestone, number>
  /** Callbacks so far; `done` also if there is none. */
  readonly callbacks: Partial<Record<Milestone, 'pushed' | 'done' | 'failed'>>
  /** Milestones that the parent has counted. */
  readonly counted: Set<Milestone>
}
