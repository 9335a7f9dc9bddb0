import type { NewJob, StoreError, Submission, Submitted } from '@crossgear/core-scheduler'
import { error, OK, parseJob } from '@crossgear/fwp-codec'
import type { Place } from '../../net/places.ts'
import { laneFor } from '../lane-for.ts'
import { refusalOf } from '../refusals.ts'
import type { Session } from '../session.ts'
import { storeErrorText } from '../store-error-text.ts'
import { newJobOf } from '../translate.ts'
import type { Handler } from './handler.ts'

/** `PUSH {job}`: `+OK` when the store has it. */
export const push: Handler = (session, argument) => {
  const { scheduler, payloadRuleOf, lanes } = session.context
  const pushed = parseJob(argument)
  const lane = laneFor(pushed, scheduler.registry.names)
  const job = newJobOf(pushed, scheduler.storeNowMs(), payloadRuleOf(pushed.jobtype))
  lanes.submit(lane, new Push(session, job))
}

/** A pushed job on its way to the store. */
class Push implements Submission {
  readonly job: NewJob
  /** A job that was handed in stays, whether or not its producer does. */
  readonly gone = false
  readonly #place: Place

  constructor(session: Session, job: NewJob) {
    this.job = job
    this.#place = session.reserve()
  }

  submitted(result: Submitted): void {
    const refusal = refusalOf(result, this.job)
    this.#place.fill(refusal ? error(refusal.text, refusal.kind) : OK)
  }

  refused(problem: StoreError): void {
    this.#place.fill(error(storeErrorText(problem)))
  }
}
