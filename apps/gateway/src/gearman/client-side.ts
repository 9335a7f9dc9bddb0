import type { NewJob } from '@crossgear/core-scheduler'
import type { Session } from './session.ts'
import { SubmittedJob } from './submitted-job.ts'

/** What a connection is as a client: the jobs it waits for. */
export class ClientSide {
  /** Whether it hears WORK_EXCEPTION, or WORK_FAIL in its place. */
  exceptions: boolean
  readonly #session: Session
  readonly #awaited = new Set<SubmittedJob>()

  constructor(session: Session, exceptions: boolean) {
    this.#session = session
    this.exceptions = exceptions
  }

  submit(lane: string, job: NewJob): void {
    const place = this.#session.peer.reserve()
    this.#session.scheduler.submit(lane, new SubmittedJob(this.#session, lane, job, place))
  }

  await(job: SubmittedJob): void {
    this.#awaited.add(job)
  }

  forget(job: SubmittedJob): void {
    this.#awaited.delete(job)
  }

  /** The connection is gone: nobody waits for its jobs on its behalf. */
  leave(): void {
    for (const job of this.#awaited) this.#session.scheduler.abandon(job, [job.ref])
    this.#awaited.clear()
  }
}
