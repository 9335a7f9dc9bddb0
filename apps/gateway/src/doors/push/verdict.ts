import type { FailureReport } from '@crossgear/core-scheduler'
import { oneLine } from '../../errors.ts'
import { describe, waitOf } from '../outgoing/answers.ts'
import { type Answer, isSuccess } from '../outgoing/poster.ts'

/** The consequence of a request for its job. */
export type Verdict =
  | { readonly kind: 'done'; readonly output: Buffer }
  /** The job goes back, and the target rests. */
  | { readonly kind: 'busy'; readonly waitMs: number; readonly reason: string }
  /** `isOfTarget`: the target is at fault, not the job. */
  | { readonly kind: 'failed'; readonly report: FailureReport; readonly isOfTarget: boolean }

const errtype = 'PushError'
/** The address or the key is wrong: no job of the target would do better. */
const isWrongTarget = (status: number): boolean => [401, 403, 404].includes(status)

/** The consequence of an answer. `usualMs`: the wait where it names none. */
export function verdictOn(answer: Answer, usualMs: number, nowMs: number): Verdict {
  const { status, body, isCut } = answer
  if (status === 429 || status === 503)
    return { kind: 'busy', waitMs: waitOf(answer, usualMs, nowMs), reason: describe(answer) }
  const isDone = isSuccess(answer)
  if (isDone && !isCut) return { kind: 'done', output: body }
  const message = isDone
    ? `HTTP ${status}: the answer is over ${body.length} bytes`
    : describe(answer)
  const isOfJob = isDone || (status >= 400 && status < 500 && !isWrongTarget(status))
  return { kind: 'failed', report: { errtype, message }, isOfTarget: !isOfJob }
}

/** The consequence of a request without an answer. */
export function verdictWithout(error: unknown): Verdict {
  const message = `no answer: ${oneLine(error)}`
  return { kind: 'failed', report: { errtype, message }, isOfTarget: true }
}
