import { randomBytes } from 'node:crypto'
import { auditBounds, type JobSet, type Scheduler } from '@crossgear/core-scheduler'
import { lineOfRecord, recordOfStanding } from '@crossgear/migration'
import type { RedisStore } from '@crossgear/redis-store'
import { type Done, type Group, settled } from './group.ts'

/** The parts of the store that read jobs as a whole and store them again. */
export type Imports = Pick<
  RedisStore['imports'],
  'bytesOf' | 'jobsInLane' | 'store' | 'notes' | 'nowUs'
>

/** Bytes of a record: base64, and the names of its fields. */
const overhead = { perByte: 1.4, perJob: 512 }
const importIdBytes = 16

/** Scheduled or dead jobs. */
interface KeptGroup extends Group {
  readonly place: 'scheduled' | 'dead'
}

/** The parts that read jobs as a whole. */
export type JobReader = Pick<Imports, 'bytesOf' | 'jobsInLane'>

/** How an act can be undone. */
export interface Undoing {
  /** The name of its records. */
  readonly undo: string | null
  /** Why it, or a part of it, cannot be undone. */
  readonly no_undo: string | null
}

/** Records of the jobs that one act deletes from among scheduled, failed and dead ones. */
export class DeletedJobs {
  readonly #scheduler: Scheduler
  readonly #imports: JobReader
  readonly #records: string[] = []
  #bytes = 0
  #others = 0
  #ofBatches = 0
  #isFull = false

  constructor(scheduler: Scheduler, imports: JobReader) {
    this.#scheduler = scheduler
    this.#imports = imports
  }

  /** Deletes a group of scheduled or dead jobs. */
  async take({ lane, place, found }: KeptGroup): Promise<Done> {
    const ids = found.map(({ job }) => job.id)
    const records = await this.#read(lane, ids)
    const sets: readonly JobSet[] = place === 'dead' ? ['dead'] : ['scheduled', 'retries']
    let done = 0
    for (const set of sets) {
      const deleted = await this.#scheduler.sets.moveEach(lane, set, ids, 'deleted')
      done += deleted.length
      for (const id of deleted) this.#keep(records.get(id))
    }
    return settled(found.length, done)
  }

  /** Jobs were deleted whose records are not kept. */
  passed(jobs: number): void {
    this.#others += jobs
  }

  /** Keeps the records for a day; called once, when the jobs are deleted. */
  async finish(): Promise<Undoing> {
    const reasons = [
      ...(this.#others > 0 ? [`${this.#others} jobs waited in queues`] : []),
      ...(this.#ofBatches > 0 ? [`${this.#ofBatches} jobs belonged to batches`] : []),
    ]
    const bytes = this.#records.reduce((sum, record) => sum + Buffer.byteLength(record), 0)
    if (this.#isFull || bytes > auditBounds.actBytes)
      return { undo: null, no_undo: 'the jobs were too large to be kept' }
    if (this.#records.length === 0) return { undo: null, no_undo: reasons.join(', ') || null }
    const undo = randomBytes(9).toString('base64url')
    const isKept = await this.#scheduler.audit.keep(undo, this.#records).catch(() => false)
    return isKept
      ? { undo, no_undo: reasons.join(', ') || null }
      : { undo: null, no_undo: 'there was no room for more deleted jobs' }
  }

  /** Lines of jobs by id; empty: of a batch, which has counted its end. */
  async #read(lane: string, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const { actBytes } = auditBounds
    const bytes = await this.#imports.bytesOf(lane, ids)
    this.#bytes += bytes * overhead.perByte + ids.length * overhead.perJob
    this.#isFull ||= this.#bytes > actBytes
    if (this.#isFull) return new Map()
    const { names } = this.#scheduler.registry
    const lines = new Map<number, string>()
    for (const standing of await this.#imports.jobsInLane(lane, ids)) {
      if (!standing) continue
      const importId = randomBytes(importIdBytes)
      const isOfBatch = standing.further?.bid !== undefined
      const line = isOfBatch ? '' : lineOfRecord(recordOfStanding(standing, importId, names))
      lines.set(standing.job.id, line)
    }
    return lines
  }

  #keep(record: string | undefined): void {
    if (record === '') this.#ofBatches += 1
    else if (record !== undefined) this.#records.push(record)
  }
}

/** True for groups whose jobs can be put back. */
export function isKept(group: Group): group is KeptGroup {
  return group.place === 'scheduled' || group.place === 'dead'
}
