import type { Assignment, Settled, Settlement, StoreError } from '@crossgear/core-scheduler'
import { error, OK } from '@crossgear/fwp-codec'
import type { Place } from '../net/places.ts'
import { findJob } from './find-job.ts'
import type { HeldJob } from './held-jobs.ts'
import type { Session } from './session.ts'
import { asStoreError, storeErrorText } from './store-error-text.ts'

/**
 * What a worker says of a job that it names by jid: settled on the reservation that this node handed
 * to the worker, or else on the one that the store knows, whichever node gave it out.
 */
export abstract class JidOutcome implements Settlement {
  protected readonly session: Session
  readonly #jid: string
  readonly #place: Place
  #held: HeldJob | undefined
  #lease: Assignment['job'] | undefined

  constructor(session: Session, jid: string) {
    this.session = session
    this.#jid = jid
    this.#place = session.reserve()
  }

  /** The reply for a job that nobody holds. */
  protected abstract unknown(jid: string): Buffer
  /** Tells the scheduler, with this object as the settlement. */
  protected abstract tell(assignment: Assignment): void

  start(): void {
    this.#held = this.session.worker.held.find(this.#jid)
    if (this.#held) this.#tell(this.#held.assignment)
    else void this.#find()
  }

  settled(result: Settled): void {
    if (result === 'unknown') {
      if (this.#held) this.#held.fenced = true
      this.#place.fill(this.unknown(this.#jid))
      return
    }
    const { worker, context } = this.session
    if (this.#held) worker.held.drop(this.#jid, this.#held)
    else this.#tellOthers()
    if (this.#lease) context.scheduler.holders.settled(worker.holder, this.#lease)
    this.#place.fill(OK)
  }

  refused(problem: StoreError): void {
    this.#place.fill(error(storeErrorText(problem)))
  }

  #tell(assignment: Assignment): void {
    this.#lease = assignment.job
    this.tell(assignment)
  }

  /** It was handed out at another node, or to another worker. */
  #tellOthers(): void {
    const { context, worker } = this.session
    if (worker.wid === undefined) return
    void context.scheduler.queues.notify(worker.wid, { settled: this.#jid })
  }

  async #find(): Promise<void> {
    const { scheduler } = this.session.context
    try {
      const job = await findJob(this.#jid, scheduler, ['envelope'])
      const assignment = job && scheduler.lookupLease(job)
      if (assignment) this.#tell(assignment)
      else this.#place.fill(this.unknown(this.#jid))
    } catch (problem) {
      this.refused(asStoreError(problem))
    }
  }
}
