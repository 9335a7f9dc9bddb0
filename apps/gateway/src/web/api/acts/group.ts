import type { JobPlace } from '@crossgear/core-scheduler'
import type { FoundJob } from '../reads/job-scan.ts'

/** Jobs that stand in one place of one lane. */
export interface Group {
  readonly lane: string
  readonly place: JobPlace | 'queue'
  /** The piece of the queue in which they were found; absent if each was named. */
  readonly piece?: { readonly from: number; readonly count: number }
  readonly found: readonly FoundJob[]
}

/** The result of an act on a group: jobs moved, and jobs left in place by reason. */
export interface Done {
  readonly done: number
  /** Jobs that have left their place. */
  readonly left: number
  readonly skipped: readonly Skip[]
}

export interface Skip {
  readonly reason: string
  readonly jobs: number
}

/** Changes the jobs of a group; with `isDry` says only what it would do. */
export type GroupAct = (group: Group, isDry: boolean) => Promise<Done>

export function skip(jobs: number, reason: string): Done {
  return { done: 0, left: 0, skipped: jobs > 0 ? [{ reason, jobs }] : [] }
}

/** The result where `done` of the jobs were changed; the others had left their place. */
export function settled(jobs: number, done: number): Done {
  const gone = jobs - done
  return { done, left: done, skipped: gone > 0 ? [{ reason: goneMeanwhile, jobs: gone }] : [] }
}

const goneMeanwhile = 'has gone on meanwhile'
