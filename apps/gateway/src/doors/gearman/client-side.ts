import {
  isFinal,
  type JobEvent,
  type JobRef,
  type NewJob,
  type StoreError,
  type Submission,
  type Submitted,
  type Waiter,
} from '@crossgear/core-scheduler'
import { encodeResponse } from '@crossgear/gearman-codec'
import type { ReplySlot } from '../net/reply-slots.ts'
import { refusedJobText } from '../net/store-refusal.ts'
import { storeFailedReply } from './replies.ts'
import type { SideSession } from './side-session.ts'
import { spentJob, untilNul } from './translate.ts'

/** The client side of a connection: the jobs it waits for. */
export class ClientSide {
  /** True: WORK_EXCEPTION; false: WORK_FAIL instead. */
  exceptions: boolean
  readonly #session: SideSession
  readonly #awaited = new Set<SubmittedJob>()

  constructor(session: SideSession, exceptions: boolean) {
    this.#session = session
    this.exceptions = exceptions
  }

  get awaitsJobs(): boolean {
    return this.#awaited.size > 0
  }

  submit(lane: string, job: NewJob): void {
    const slot = this.#session.connection.reserve()
    this.#session.scheduler.submit(lane, new SubmittedJob(this.#session, this, { lane, job, slot }))
  }

  await(job: SubmittedJob): void {
    this.#awaited.add(job)
  }

  forget(job: SubmittedJob): void {
    this.#awaited.delete(job)
  }

  /** The connection ended: nobody waits for its jobs. */
  leave(): void {
    for (const job of this.#awaited) this.#session.scheduler.abandon(job, [job.ref])
    this.#awaited.clear()
  }
}

const spent = spentJob('gearman')

interface Requested {
  readonly lane: string
  readonly job: NewJob
  readonly slot: ReplySlot
}

/** A submitted job, from its SUBMIT_JOB to its last event. */
export class SubmittedJob implements Submission, Waiter {
  job: NewJob
  readonly waiter?: Waiter
  readonly #session: SideSession
  readonly #client: ClientSide
  readonly #lane: string
  /** Slot of the last event; the next must not overtake it. */
  #slot: ReplySlot
  #id = 0
  #handle = ''

  constructor(session: SideSession, client: ClientSide, { lane, job, slot }: Requested) {
    this.#session = session
    this.#client = client
    this.#lane = lane
    this.job = job
    this.#slot = slot
    if (job.foreground) this.waiter = this
  }

  get gone(): boolean {
    return this.#session.gone
  }

  get isBehind(): boolean {
    return this.#session.connection.isBehind
  }

  whenRead(task: () => void): void {
    this.#session.connection.whenRead(task)
  }

  get ref(): JobRef {
    return { lane: this.#lane, id: this.#id }
  }

  submitted(result: Submitted, laneNumber: number): void {
    this.job = spent
    if (!('id' in result)) {
      const key = result.kind === 'unattended' ? 'NO_WORKERS' : 'QUEUE_FULL'
      this.#slot.fill(this.#session.refusal(key))
      return
    }
    this.#id = result.id
    this.#handle = this.#session.context.handles.format(laneNumber, result.id)
    if (this.waiter && !this.gone) this.#client.await(this)
    this.#slot.fill(encodeResponse('JOB_CREATED', this.#handle))
  }

  refused(error: StoreError): void {
    this.job = spent
    this.#slot.fill(storeFailedReply(refusedJobText(error, this.#session.storeRefused)))
  }

  onEvent(_ref: JobRef, event: JobEvent): void {
    if (isFinal(event)) this.#client.forget(this)
    const { connection } = this.#session
    const packet = this.#packetOf(event)
    if (this.#slot.hasLeft) connection.sendNow(packet)
    else this.#slot = connection.send(packet) ?? this.#slot
  }

  #packetOf(event: JobEvent): Buffer {
    const handle = this.#handle
    switch (event.kind) {
      case 'data':
        return encodeResponse('WORK_DATA', handle, event.data)
      case 'warning':
        return encodeResponse('WORK_WARNING', handle, event.data)
      case 'status': {
        const { dividend, divisor } = event
        return encodeResponse('WORK_STATUS', handle, untilNul(dividend), untilNul(divisor))
      }
      case 'complete':
        return encodeResponse('WORK_COMPLETE', handle, event.output)
      case 'exception':
        return this.#client.exceptions
          ? encodeResponse('WORK_EXCEPTION', handle, event.message)
          : encodeResponse('WORK_FAIL', handle)
      case 'fail':
        return encodeResponse('WORK_FAIL', handle)
    }
  }
}
