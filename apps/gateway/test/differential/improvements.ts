import { jobImprovements } from './improvements/jobs.ts'
import { wireImprovements } from './improvements/wire.ts'

/** A case in which Crossgear does better than gearmand on purpose. */
export interface Improvement {
  /** Name of the case. */
  readonly name: string
  readonly reason: string
  /** Messages at the connections where the servers differ: `step connection message`. */
  readonly gearmand: readonly string[]
  readonly crossgear: readonly string[]
  /** gearmand 2.0 does as Crossgear does. */
  readonly mendedIn20?: true
}

/** All differences from gearmand. */
export const improvements: readonly Improvement[] = [...wireImprovements, ...jobImprovements]
