import type { JobRef, JobState, LaneRegistry, Scheduler } from '@crossgear/core-scheduler'
import { findFinished, findJob } from '../../../doors/faktory/jids.ts'
import type { Handles } from '../../../doors/gearman/handles.ts'
import { ApiError } from '../api-error.ts'

const idForm = /^([0-9a-z]{1,6})-(\d{1,16})$/

/** A job as the API names it: its lane's number in base 36 and its own. */
export function apiIdOf({ lane, id }: JobRef, registry: LaneRegistry): string {
  return `${(registry.numberOf(lane) ?? 0).toString(36)}-${id}`
}

/** The lane and number in a job's id of the API; undefined for any other text. */
export function refOfApiId(name: string, registry: LaneRegistry): JobRef | undefined {
  const [, number, id] = idForm.exec(name) ?? []
  return number === undefined ? undefined : registry.refOf(Number.parseInt(number, 36), Number(id))
}

/** Finds jobs by whatever name they have. */
export class JobNames {
  readonly #scheduler: Scheduler
  readonly #handles: Handles

  constructor(scheduler: Scheduler, handles: Handles) {
    this.#scheduler = scheduler
    this.#handles = handles
  }

  of(ref: JobRef): string {
    return apiIdOf(ref, this.#scheduler.registry)
  }

  handleOf(ref: JobRef): string {
    return this.#handles.of(ref) ?? ''
  }

  /** The job as it stands now. */
  async find(name: string): Promise<JobState | undefined> {
    const ref = refOfApiId(name, this.#scheduler.registry) ?? this.#handles.parse(name)
    const job = ref && (await this.#scheduler.jobs.look(ref))
    return job ?? (await this.byJid(name))
  }

  /** The same; throws an ApiError where there is none. */
  async demand(name: string): Promise<JobState> {
    const job = await this.find(name)
    if (!job) throw new ApiError('unknown_job', 'the job does not exist, or no longer')
    return job
  }

  async byJid(jid: string): Promise<JobState | undefined> {
    return (await findJob(jid, this.#scheduler)) ?? (await findFinished(jid, this.#scheduler))
  }

  async byHandle(handle: string): Promise<JobState | undefined> {
    const ref = this.#handles.parse(handle)
    return ref && (await this.#scheduler.jobs.look(ref))
  }
}
