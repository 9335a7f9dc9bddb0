import {
  type Assignment,
  type Settled,
  type Settlement,
  type StoreError,
  toStoreError,
} from '@crossgear/core-scheduler'
import { error, type Fail, okReply, parseAck, parseFail } from '@crossgear/fwp-codec'
import type { ReplySlot } from '../../net/reply-slots.ts'
import { storeErrorText } from '../answers.ts'
import type { HeldJob } from '../held-jobs.ts'
import { findJob } from '../jids.ts'
import type { Handler, Session } from '../session.ts'
import { membersOf } from '../../bridge/stored-json.ts'
import { outputOfResult } from '../translate.ts'

/**
 * An outcome that names its job by jid: settled on the lease that this node gave the worker, or
 * else on the lease in the store, whichever node gave it out.
 */
export abstract class AckByJid implements Settlement {
  protected readonly session: Session
  readonly #jid: string
  readonly #slot: ReplySlot
  #held: HeldJob | undefined
  #lease: Assignment['job'] | undefined

  constructor(session: Session, jid: string) {
    this.session = session
    this.#jid = jid
    this.#slot = session.reserve()
  }

  /** The reply for a job without a lease. */
  protected abstract unknown(jid: string): Buffer
  /** Reports to the scheduler, with this object as the settlement. */
  protected abstract report(assignment: Assignment): void

  start(): void {
    if (!this.#reportHeld()) this.#slot.whenFirst(() => void this.#find())
  }

  settled(result: Settled): void {
    const { worker, context } = this.session
    // Unknown: it has lost the lease.
    if (this.#lease) context.scheduler.holders.settled(worker.holder, this.#lease)
    if (result === 'unknown') {
      if (this.#held) this.#held.fenced = true
      this.#slot.fill(this.unknown(this.#jid))
      return
    }
    if (this.#held) worker.held.drop(this.#jid, this.#held)
    else this.#notifyOthers()
    this.#slot.fill(okReply)
  }

  refused(problem: StoreError): void {
    this.#slot.fill(error(storeErrorText(problem)))
  }

  #report(assignment: Assignment): void {
    this.#lease = assignment.job
    this.report(assignment)
  }

  /** It was handed out at another node, or to another worker. */
  #notifyOthers(): void {
    const { context, worker } = this.session
    if (worker.wid === undefined) return
    void context.scheduler.queues.notify(worker.wid, { settled: this.#jid })
  }

  #reportHeld(): boolean {
    this.#held = this.session.worker.held.find(this.#jid)
    if (this.#held) this.#report(this.#held.assignment)
    return this.#held !== undefined
  }

  /** The commands before it are done: one of them may have pushed or fetched the job. */
  async #find(): Promise<void> {
    if (this.#reportHeld()) return
    const { scheduler } = this.session.context
    try {
      const job = await findJob(this.#jid, scheduler, ['envelope'])
      const assignment = job && scheduler.lookupLease(job)
      if (assignment) this.#report(assignment)
      else this.#slot.fill(this.unknown(this.#jid))
    } catch (problem) {
      this.refused(toStoreError(problem))
    }
  }
}

/** `ACK {"jid", "result"}`: `+OK`, also for a job without a lease. */
export const ack: Handler = (session, argument) => {
  const { jid, result } = parseAck(argument)
  new Acknowledgement(session, jid, outputOfResult(result)).start()
}

class Acknowledgement extends AckByJid {
  readonly #output: Buffer

  constructor(session: Session, jid: string, output: Buffer) {
    super(session, jid)
    this.#output = output
  }

  protected override unknown(): Buffer {
    return okReply
  }

  protected override report(assignment: Assignment): void {
    this.session.context.scheduler.complete(assignment, this.#output, this)
  }
}

/** `FAIL {"jid", "errtype", "message", "backtrace"}`: `+OK`, or `-ERR Job not found <jid>`. */
export const fail: Handler = (session, argument) => {
  new Failure(session, parseFail(argument)).start()
}

class Failure extends AckByJid {
  readonly #fail: Fail

  constructor(session: Session, report: Fail) {
    super(session, report.jid)
    this.#fail = report
  }

  protected override unknown(jid: string): Buffer {
    return error(`Job not found ${jid}`)
  }

  protected override report(assignment: Assignment): void {
    const { message, errtype, backtrace } = this.#fail
    const lines = linesWanted(assignment.job.envelope)
    const report = { message, errtype, backtrace: backtrace.slice(0, lines) }
    this.session.context.scheduler.fail(assignment, report, this)
  }
}

/** Backtrace lines that the job's producer asked to keep; undefined: all. */
function linesWanted(envelope: string | undefined): number | undefined {
  const lines = Number(membersOf(envelope).get('backtrace'))
  return lines > 0 ? lines : undefined
}
