import type { JobState, WaitingAnswer } from '@crossgear/core-scheduler'
import type { FunctionLimit } from '../../../../config/function-limits.ts'
import { freeWorkerReason, type LaneFacts, laneObstacle, limitReason } from './lane-reason.ts'
import { type Reason, reason, shortName, timeText } from './reason.ts'

/** Facts about one job that waits in its queue. */
export interface WaitingFacts {
  readonly job: Pick<JobState, 'foreground' | 'waiting' | 'id'>
  readonly lane: LaneFacts
  readonly nextId: number | undefined
  readonly answer: WaitingAnswer
  /** The limit of its route. */
  readonly limit: FunctionLimit | undefined
}

/** Why a job in its queue has not begun. */
export function waitingReason(facts: WaitingFacts): Reason {
  const { staleAtMs } = facts.answer
  const found = reasonOf(facts)
  if (staleAtMs === undefined) return found
  return { ...found, text: `${found.text}; max_age ends it at ${timeText(staleAtMs)}` }
}

function reasonOf({ job, lane, nextId, answer, limit }: WaitingFacts): Reason {
  if (job.foreground && job.waiting === 0) {
    return reason('client_left', 'Its client has left: it is dropped when its turn comes')
  }
  const obstacle = laneObstacle(lane)
  if (obstacle) return obstacle
  if (answer.turn) return turnReason(answer.turn, limit)
  const found = limitReason(lane)
  if (found) return found
  return job.id === nextId ? reason('next', 'Next in line') : freeWorkerReason(lane)
}

function turnReason(
  { value, waiting, running, dueMs: untilMs }: NonNullable<WaitingAnswer['turn']>,
  limit: FunctionLimit | undefined,
): Reason {
  const { concurrency, per = 'its key' } = limit ?? {}
  const whose = value === '' ? `jobs without ${shortName(per)}` : shortName(value)
  if (untilMs !== undefined) {
    return reason('rate', `Rate of ${whose}: next at ${timeText(untilMs)}`, { untilMs })
  }
  if (concurrency !== undefined && running >= concurrency) {
    return reason('limit', `${running} of ${concurrency} of ${whose} run (limit of the route)`)
  }
  const number = waiting.toLocaleString('en-US')
  return reason('turn', `Its turn: ${whose} has ${number} waiting`)
}

/** A job that is due later, the first time or again. */
export function dueReason(code: 'scheduled' | 'retry', dueMs: number | undefined, name: string) {
  const words = code === 'scheduled' ? 'Scheduled for' : 'Tried again at'
  return reason(code, dueMs === undefined ? 'Due later' : `${words} ${timeText(dueMs)}`, {
    untilMs: dueMs,
    act: { operation: 'retryJobs', name },
  })
}

/** A running job whose worker is away. `backMs`: when it goes back into its queue. */
export function vanishedReason(sinceMs?: number, backMs?: number): Reason {
  const since = sinceMs === undefined ? '' : ` at ${timeText(sinceMs)}`
  const back = backMs === undefined ? 'within seconds' : `at ${timeText(backMs)}`
  return reason('vanished', `Its worker vanished${since}, back ${back}`, {
    sinceMs,
    untilMs: backMs,
  })
}
