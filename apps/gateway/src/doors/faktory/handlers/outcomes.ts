import {
  type Assignment,
  type Settled,
  type Settlement,
  type StoreError,
  toStoreError,
} from '@crossgear/core-scheduler'
import { error, type Fail, okReply, parseAck, parseFail } from '@crossgear/fwp-codec'
import type { ReplySlot } from '../../net/reply-slots.ts'
import { storeErrorText } from '../../net/store-refusal.ts'
import { storeErrorReply } from '../answers.ts'
import type { HeldJob } from '../held-jobs.ts'
import { findJob } from '../jids.ts'
import type { Handler, Session } from '../session.ts'
import { membersOf } from '../../../bridge/stored-json.ts'
import { outputOfResult } from '../translate.ts'

/** Time that an answer waits for a store that is away, milliseconds: clients wait for 5 s, and more. */
const answerWithinMs = 4_000
const keptText = 'the gateway keeps it, and stores it when the store is back'

/**
 * An outcome that names its job by jid: settled on the lease that this node gave the worker, or
 * else on the lease in the store, whichever node gave it out.
 *
 * While the store is away the gateway keeps what the worker said first of a job: some clients never repeat it, some repeat it
 * until they read `+OK`, and that of Ruby says FAIL after an ACK that was refused.
 */
export abstract class AckByJid implements Settlement {
  readonly isRepeated = true
  protected readonly session: Session
  /** Later reports of the worker on the same job, which wait for the same answer. */
  readonly #repeated: AckByJid[] = []
  #isKept = false
  readonly #jid: string
  protected readonly slot: ReplySlot
  #held: HeldJob | undefined
  #lease: Assignment['job'] | undefined

  constructor(session: Session, jid: string) {
    this.session = session
    this.#jid = jid
    this.slot = session.reserve()
  }

  /** Size of what it says, bytes. */
  protected abstract readonly bytes: number
  /** The reply for a job without a lease. */
  protected abstract unknown(jid: string): Buffer
  /** Reports to the scheduler, with this object as the settlement. */
  protected abstract report(assignment: Assignment): void

  start(): void {
    const held = this.session.worker.held.find(this.#jid)
    if (held?.said === 'stored') {
      this.session.worker.held.drop(this.#jid, held)
      this.slot.fill(okReply)
    } else if (held?.said instanceof AckByJid) held.said.#repeat(this)
    else if (!this.#reportHeld()) this.slot.whenFirst(() => void this.#find())
  }

  #repeat(again: AckByJid): void {
    this.#repeated.push(again)
    again.#answerInTime()
  }

  settled(result: Settled): void {
    const { worker, context } = this.session
    // Unknown: it has lost the lease.
    if (this.#lease) context.scheduler.holders.settled(worker.holder, this.#lease)
    if (result === 'unknown') {
      if (this.#held) {
        this.#held.fenced = true
        this.#held.said = undefined
      }
      this.#answer(this.unknown(this.#jid))
      return
    }
    if (this.#held) this.#end(this.#held)
    else this.#notifyOthers()
    this.#answer(okReply)
  }

  /** The worker may not have read that a kept outcome is stored, and say it again. */
  #end(held: HeldJob): void {
    const isRead = [this, ...this.#repeated].some(
      ({ session, slot }) => slot.bytes === undefined && !session.hasLeft,
    )
    if (isRead) {
      this.session.worker.held.drop(this.#jid, held)
      return
    }
    held.said = 'stored'
    held.fenced = true
  }

  #answer(reply: Buffer): void {
    for (const outcome of [this, ...this.#repeated]) outcome.slot.fill(reply)
  }

  refused(problem: StoreError, isKept = false): void {
    if (!isKept) {
      this.slot.fill(storeErrorReply(this.session, problem))
      return
    }
    this.#isKept = true
    if (this.#held) this.#held.said = this
    const text = storeErrorText(problem, this.session.storeRefused)
    // The call itself took its time.
    if (problem.code === 'UNREACHABLE') this.#answerInTime()
    else this.slot.fill(error(`${text}: ${keptText}`))
  }

  /** A short absence of the store is a slow `+OK`. */
  #answerInTime(): void {
    this.session.context.clock.after(answerWithinMs, () =>
      this.slot.fill(error(`the job store cannot be reached: ${keptText}`)),
    )
  }

  #report(assignment: Assignment): void {
    this.#lease = assignment.job
    this.report(assignment)
  }

  /** The job was handed out at another node, or to another worker: these hear that it is settled. */
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
      else this.slot.fill(this.unknown(this.#jid))
    } catch (problem) {
      const again = (): void => void this.#find()
      const refusal = toStoreError(problem)
      const isAway = refusal.code === 'UNREACHABLE' || refusal.code === 'TIMEOUT'
      const isKept = isAway && scheduler.keepOutcome({ bytes: this.bytes, again })
      if (!this.#isKept) this.refused(refusal, isKept)
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

  protected override get bytes(): number {
    return this.#output.length
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

  protected override get bytes(): number {
    return this.#fail.message.length
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
