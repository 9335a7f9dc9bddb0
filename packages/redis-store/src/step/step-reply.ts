import {
  type DroppedJob,
  StoreError,
  tooManyLanes,
  type LaneOutcomes,
  type Settled,
} from '@crossgear/core-scheduler'
import { chunks } from '../chunks.ts'
import type { LeasedReply } from '../jobs/job-hash.ts'

const zero = 0x30
const settledOf: readonly Settled[] = [
  'unknown',
  'done',
  'requeued',
  'expired',
  'wanted',
  'died',
  'lost',
]

export type PackedReply = readonly [packed: Buffer, ...outOfLine: Buffer[]]

/** As lua/step.lua says. */
export type ClaimReply = readonly [
  jobs: LeasedReply,
  throttled: readonly (Buffer | number)[],
  left: number,
  dropped?: readonly Buffer[],
]
export type StepReply = readonly [
  arrivedUs: number,
  reports: Buffer,
  outcomes: readonly Buffer[],
  submissions: readonly (Buffer | (number | Buffer)[])[],
  claims: readonly (Buffer | ClaimReply)[],
]

/** In a cluster: the lane has to be registered first, which is a step in another slot. */
export class UnregisteredLane extends StoreError {
  constructor() {
    super('REFUSED', 'the lane is not registered')
  }
}

/** The error of a part that the script refused. */
export function refusalOf(answer: unknown): StoreError {
  const text = String(answer)
  if (text === 'UNREGISTERED') return new UnregisteredLane()
  if (text === 'TOO_MANY_LANES') return tooManyLanes()
  return new StoreError('REFUSED', text)
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

/** Dropped jobs, flat: lane, id, door and how. */
export function droppedJobs(words: readonly Buffer[]): DroppedJob[] {
  return [...chunks(words, 4)].map(([lane, id, door, how]) => ({
    lane: String(lane),
    id: Number(String(id)),
    door: String(door),
    how: String(how) as DroppedJob['how'],
  }))
}
