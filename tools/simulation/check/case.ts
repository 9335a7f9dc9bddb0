import type { Plan } from '../world/plan.ts'
import type { History, Run } from './history.ts'

/** Runs of each label, in order. */
export type Runs = ReadonlyMap<string, readonly Run[]>

/** A world that has come to rest. */
export interface Case {
  readonly plan: Plan
  readonly history: History
  readonly runs: Runs
  readonly endMs: number
}

/** Tells all that is wrong with a world in one respect. */
export type Rule = (one: Case) => Iterable<string>

export const at = (ms: number | undefined): string => `${(ms ?? 0).toFixed(0)} ms`
