import type { NewJob, StoreError, Submission, Submitted } from '@crossgear/core-scheduler'
import {
  bulk,
  error,
  FwpError,
  type FwpJob,
  okReply,
  parseJob,
  parseListedJob,
  scanJobs,
} from '@crossgear/fwp-codec'
import type { ReplySlot } from '../../net/reply-slots.ts'
import { requestsPerTurn, type WorkSource } from '../../net/round-robin.ts'
import { answerRefusal, pushErrorText, shown } from '../answers.ts'
import { laneFor } from '../lanes.ts'
import type { Handler, Session } from '../session.ts'
import { newJobOf } from '../translate.ts'

/** `PUSH {job}`: `+OK` when the store has it. */
export const push: Handler = (session, argument) => {
  const { scheduler, payloadRuleOf, lanes } = session.context
  const pushed = parseJob(argument)
  const { names } = scheduler.registry
  const lane = laneFor(pushed, names)
  const job = newJobOf(pushed, scheduler.storeNowMs(), payloadRuleOf(pushed.jobtype), names)
  lanes.submit(lane, new Push(session, job), session.address)
}

/** A pushed job on its way to the store. */
class Push implements Submission {
  readonly job: NewJob
  /** A submitted job stays, whether or not its producer does. */
  readonly gone = false
  readonly #session: Session
  readonly #slot: ReplySlot

  constructor(session: Session, job: NewJob) {
    this.job = job
    this.#session = session
    this.#slot = session.reserve()
  }

  submitted(result: Submitted): void {
    const refusal = answerRefusal(this.#session, result, this.job)
    this.#slot.fill(refusal ? error(refusal.text, refusal.kind) : okReply)
  }

  refused(problem: StoreError): void {
    this.#slot.fill(error(pushErrorText(this.#session, problem)))
  }
}

/** `PUSHB [job, ...]`: a bulk string, the JSON map of jid to error text of refused jobs. */
export const pushb: Handler = (session, argument) => {
  const bulkPush = new BulkPush(session, argument)
  // Each job is read and pushed.
  if (!bulkPush.work(2 * requestsPerTurn)) return
  const goOn = session.holdCommands()
  session.context.turns.add({
    work(max) {
      try {
        const hasMore = bulkPush.work(max)
        if (!hasMore) goOn()
        return hasMore
      } catch (problem) {
        session.fail(problem)
        return false
      }
    },
  })
}

/** Bytes of a job that count as one request. */
const bytesPerRequest = 4_096

/**
 * The jobs of one PUSHB, until each is stored or refused. The whole list is read before its first job is pushed; both go in
 * pieces.
 */
class BulkPush implements WorkSource {
  readonly session: Session
  readonly #slot: ReplySlot
  readonly #errors = new Map<string, string>()
  readonly #unread: Iterator<string, void>
  readonly #texts: string[] = []
  #next = 0
  /** Jobs without an answer; one more for the end of the list, so that an empty list is answered too. */
  #left = 1

  constructor(session: Session, argument: Buffer) {
    this.session = session
    this.#slot = session.reserve()
    this.#unread = scanJobs(argument)
  }

  work(max: number): boolean {
    try {
      for (let left = max; left > 0;) {
        const text = this.#read() ?? this.#push()
        if (text === undefined) return false
        left -= 1 + Math.floor(text.length / bytesPerRequest)
      }
      return true
    } catch (problem) {
      if (!(problem instanceof FwpError)) throw problem
      this.#slot.fill(error(problem.message))
      return false
    }
  }

  done(jid = '', problem?: string): void {
    if (problem !== undefined) this.#errors.set(jid, problem)
    this.#left -= 1
    if (this.#left > 0) return
    this.#slot.fill(bulk(JSON.stringify(Object.fromEntries(this.#errors))))
  }

  /** Reads a job; undefined after the last. */
  #read(): string | undefined {
    const { value: text } = this.#unread.next()
    if (typeof text !== 'string') return undefined
    this.#texts.push(text)
    return text
  }

  /** Pushes a job; undefined after the last. */
  #push(): string | undefined {
    const text = this.#texts[this.#next]
    this.#next += 1
    if (text === undefined) {
      this.done()
      return undefined
    }
    this.#left += 1
    const parsed = parseListedJob(text)
    if (parsed.state === 'parsed') this.#submit(parsed.job)
    else this.done(parsed.jid, parsed.error.message)
    return text
  }

  #submit(pushed: FwpJob): void {
    const { scheduler, payloadRuleOf, lanes } = this.session.context
    try {
      const { names } = scheduler.registry
      const lane = laneFor(pushed, names)
      const job = newJobOf(pushed, scheduler.storeNowMs(), payloadRuleOf(pushed.jobtype), names)
      lanes.submit(lane, new BulkItem(this, pushed.jid, job), this.session.address)
    } catch (problem) {
      if (!(problem instanceof FwpError)) throw problem
      this.done(pushed.jid, problem.message)
    }
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
    const refusal = answerRefusal(this.#bulk.session, result, this.job)
    this.#bulk.done(this.#jid, refusal && shown(refusal))
  }

  refused(problem: StoreError): void {
    this.#bulk.done(this.#jid, pushErrorText(this.#bulk.session, problem))
  }
}
