import { jobImprovements } from './improvements/jobs.ts'
import { wireImprovements } from './improvements/wire.ts'

/** A case in which Crossgear does better than gearmand on purpose. */
interface Improvement {
  readonly reason: string
  /** Messages at the connections where the servers differ: `step connection message`. */
  readonly gearmand: readonly string[]
  readonly crossgear: readonly string[]
  /** gearmand 2.0 does as Crossgear does. */
  readonly mendedIn20?: true
}

/** By the names of their cases. */
export type Improvements = Readonly<Record<string, Improvement>>

/** All differences from gearmand. */
export const improvements: Improvements = { ...wireImprovements, ...jobImprovements }
