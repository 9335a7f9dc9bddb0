import type { NewJob, StoreError, Submission, Submitted } from '@crossgear/core-scheduler'
import { bulk, FwpError, parseJobs, type FwpJob } from '@crossgear/fwp-codec'
import type { Place } from '../../net/places.ts'
import { laneFor } from '../lane-for.ts'
import { refusalOf, shown } from '../refusals.ts'
import type { Session } from '../session.ts'
import { storeErrorText } from '../store-error-text.ts'
import { newJobOf } from '../translate.ts'
import type { Handler } from './handler.ts'

/** `PUSHB [job, ...]`: a bulk string, the JSON map of jid to error text of the jobs not taken. */
export const pushb: Handler = (session, argument) => {
  const parsed = parseJobs(argument)
  const bulkPush = new BulkPush(session, parsed.length)
  for (const each of parsed) {
    if (each.state === 'parsed') bulkPush.add(each.job)
    else bulkPush.done(each.jid, each.error.message)
  }
  bulkPush.done()
}

/** The jobs of one PUSHB, until each is in the store or refused. */
class BulkPush {
  readonly #session: Session
  readonly #place: Place
  readonly #errors = new Map<string, string>()
  #left: number

  constructor(session: Session, jobs: number) {
    this.#session = session
    this.#place = session.reserve()
    // One more for the end of the list, so that an empty one is answered too.
    this.#left = jobs + 1
  }

  add(pushed: FwpJob): void {
    const { scheduler, payloadRuleOf, lanes } = this.#session.context
    try {
      const lane = laneFor(pushed, scheduler.registry.names)
      const job = newJobOf(pushed, scheduler.storeNowMs(), payloadRuleOf(pushed.jobtype))
      lanes.submit(lane, new BulkItem(this, pushed.jid, job))
    } catch (problem) {
      if (!(problem instanceof FwpError)) throw problem
      this.done(pushed.jid, problem.message)
    }
  }

  done(jid = '', problem?: string): void {
    if (problem !== undefined) this.#errors.set(jid, problem)
    this.#left -= 1
    if (this.#left > 0) return
    this.#place.fill(bulk(JSON.stringify(Object.fromEntries(this.#errors))))
  }
}

class BulkItem implements Submission {
  readonly job: NewJob
  readonly gone = false
  readonly #bulk: BulkPush
  readonly #jid: string

  constructor(bulkPush: BulkPush, jid: string, job: NewJob) {
    this.#bulk = bulkPush
    this.#jid = jid
    this.job = job
  }

  submitted(result: Submitted): void {
    const refusal = refusalOf(result, this.job)
    this.#bulk.done(this.#jid, refusal && shown(refusal))
  }

  refused(problem: StoreError): void {
    this.#bulk.done(this.#jid, storeErrorText(problem))
  }
}
