import type { NewJob, StoreError, Submission, Submitted } from '@crossgear/core-scheduler'
import {
  bulk,
  error,
  FwpError,
  type FwpJob,
  okReply,
  parseJob,
  parseJobs,
} from '@crossgear/fwp-codec'
import type { ReplySlot } from '../../net/reply-slots.ts'
import { pushErrorText, refusalOf, shown } from '../answers.ts'
import { laneFor } from '../lanes.ts'
import type { Handler, Session } from '../session.ts'
import { newJobOf } from '../translate.ts'

/** `PUSH {job}`: `+OK` when the store has it. */
export const push: Handler = (session, argument) => {
  const { scheduler, payloadRuleOf, lanes } = session.context
  const pushed = parseJob(argument)
  const lane = laneFor(pushed, scheduler.registry.names)
  const job = newJobOf(pushed, scheduler.storeNowMs(), payloadRuleOf(pushed.jobtype))
  lanes.submit(lane, new Push(session, job), session.address)
}

/** A pushed job on its way to the store. */
class Push implements Submission {
  readonly job: NewJob
  /** A submitted job stays, whether or not its producer does. */
  readonly gone = false
  readonly #slot: ReplySlot

  constructor(session: Session, job: NewJob) {
    this.job = job
    this.#slot = session.reserve()
  }

  submitted(result: Submitted): void {
    const refusal = refusalOf(result, this.job)
    this.#slot.fill(refusal ? error(refusal.text, refusal.kind) : okReply)
  }

  refused(problem: StoreError): void {
    this.#slot.fill(error(pushErrorText(problem)))
  }
}

/** `PUSHB [job, ...]`: a bulk string, the JSON map of jid to error text of refused jobs. */
export const pushb: Handler = (session, argument) => {
  const parsed = parseJobs(argument)
  const bulkPush = new BulkPush(session, parsed.length)
  for (const each of parsed) {
    if (each.state === 'parsed') bulkPush.add(each.job)
    else bulkPush.done(each.jid, each.error.message)
  }
  bulkPush.done()
}

/** The jobs of one PUSHB, until each is stored or refused. */
class BulkPush {
  readonly #session: Session
  readonly #slot: ReplySlot
  readonly #errors = new Map<string, string>()
  #left: number

  constructor(session: Session, jobs: number) {
    this.#session = session
    this.#slot = session.reserve()
    // One more for the end of the list, so that an empty list is answered too.
    this.#left = jobs + 1
  }

  add(pushed: FwpJob): void {
    const { scheduler, payloadRuleOf, lanes } = this.#session.context
    try {
      const lane = laneFor(pushed, scheduler.registry.names)
      const job = newJobOf(pushed, scheduler.storeNowMs(), payloadRuleOf(pushed.jobtype))
      lanes.submit(lane, new BulkItem(this, pushed.jid, job), this.#session.address)
    } catch (problem) {
      if (!(problem instanceof FwpError)) throw problem
      this.done(pushed.jid, problem.message)
    }
  }

  done(jid = '', problem?: string): void {
    if (problem !== undefined) this.#errors.set(jid, problem)
    this.#left -= 1
    if (this.#left > 0) return
    this.#slot.fill(bulk(JSON.stringify(Object.fromEntries(this.#errors))))
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
    this.#bulk.done(this.#jid, pushErrorText(problem))
  }
}
