import { StoreError, type LaneOutcomes, type Settled } from '@crossgear/core-scheduler'
import type { LeasedReply } from '../jobs/job-hash.ts'

const zero = 0x30
const settledOf: readonly Settled[] = ['unknown', 'done', 'requeued', 'dropped', 'wanted']

export type PackedReply = readonly [packed: Buffer, ...outOfLine: Buffer[]]

/** As lua/step.lua says. */
export type ClaimReply = readonly [
  jobs: LeasedReply,
  throttled: readonly (Buffer | number)[],
  left: number,
  expired?: readonly Buffer[],
]
export type StepReply = readonly [
  arrivedUs: number,
  reports: Buffer,
  outcomes: readonly Buffer[],
  submissions: readonly (Buffer | (number | Buffer)[])[],
  claims: readonly (Buffer | ClaimReply)[],
]

/** The error of a part that the script refused. */
export function refusalOf(answer: unknown): StoreError {
  return new StoreError('REFUSED', String(answer))
}

/** A digit for each outcome, or the error for the lane. */
export function outcomesOf(
  answer: Buffer,
  { outcomes }: LaneOutcomes = { lane: '', outcomes: [] },
): readonly Settled[] | StoreError {
  const settled: Settled[] = []
  for (const digit of answer) {
    const result = settledOf[digit - zero]
    if (result === undefined) return refusalOf(answer)
    settled.push(result)
  }
  return settled.length === outcomes.length ? settled : refusalOf(answer)
}
