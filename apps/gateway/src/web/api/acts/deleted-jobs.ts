import { randomBytes } from 'node:crypto'
import { auditBounds, type Scheduler } from '@crossgear/core-scheduler'
import { lineOfRecord, recordOfStanding } from '@crossgear/migration'
import type { RedisStore } from '@crossgear/redis-store'
import { Ending } from './ending.ts'
import { type Done, type Group, settled } from './group.ts'

/** The parts of the store that read jobs as a whole and store them again. */
export type Imports = Pick<
  RedisStore['imports'],
  'bytesOf' | 'jobsInLane' | 'store' | 'notes' | 'nowUs'
>

/** Bytes of a record: base64, and the names of its fields. */
const overhead = { perByte: 1.4, perJob: 512 }
const importIdBytes = 16

/** Why a job cannot be put back: how many, and the rest of the sentence. */
const unkept = {
  batch: 'jobs belonged to batches',
  waiting: 'jobs had waiting clients, which got a failure',
} as const
type Unkept = keyof typeof unkept

/** The parts that read jobs as a whole. */
export type JobReader = Pick<Imports, 'bytesOf' | 'jobsInLane'>

/** How an act can be undone. */
export interface Undoing {
  /** The name of its records. */
  readonly undo: string | null
  /** Why it, or a part of it, cannot be undone. */
  readonly no_undo: string | null
}

/** Records of the jobs that one act deletes. */
export class DeletedJobs {
  readonly #scheduler: Scheduler
  readonly #imports: JobReader
  readonly #name: string
  readonly #records: string[] = []
  readonly #unkept = new Map<Unkept, number>()
  readonly #ending: Ending
  #bytes = 0
  #isFull = false

  /** `name`: that of the records. */
  constructor(scheduler: Scheduler, imports: JobReader, name: string) {
    this.#name = name
    this.#scheduler = scheduler
    this.#imports = imports
    this.#ending = new Ending(scheduler)
  }

  /** Deletes a group of jobs that do not run. */
  async take(group: Group): Promise<Done> {
    const { lane, found } = group
    const records = await this.#read(
      lane,
      found.map(({ job }) => job.id),
    )
    const deleted = new Set(await this.#ending.each(group, 'deleted'))
    for (const { job } of found) if (deleted.has(job.id)) this.#keep(records.get(job.id))
    return settled(found.length, deleted.size)
  }

  /** Keeps the records for a day; called once, when the jobs are deleted. */
  async finish(): Promise<Undoing> {
    const reasons = [...this.#unkept].map(([why, jobs]) => `${jobs} ${unkept[why]}`)
    const bytes = this.#records.reduce((sum, record) => sum + Buffer.byteLength(record), 0)
    if (this.#isFull || bytes > auditBounds.actBytes)
      return { undo: null, no_undo: 'the jobs were too large to be kept' }
    if (this.#records.length === 0) return { undo: null, no_undo: reasons.join(', ') || null }
    const undo = this.#name
    const isKept = await this.#scheduler.audit.keep(undo, this.#records).catch(() => false)
    return isKept
      ? { undo, no_undo: reasons.join(', ') || null }
      : { undo: null, no_undo: 'there was no room for more deleted jobs' }
  }

  /** Lines of jobs by id, or why a job has none: its batch has counted its end, or its clients have heard of it. */
  async #read(
    lane: string,
    ids: readonly number[],
  ): Promise<ReadonlyMap<number, { readonly line: string } | Unkept>> {
    const { actBytes } = auditBounds
    const bytes = await this.#imports.bytesOf(lane, ids)
    this.#bytes += bytes * overhead.perByte + ids.length * overhead.perJob
    this.#isFull ||= this.#bytes > actBytes
    if (this.#isFull) return new Map()
    const { names } = this.#scheduler.registry
    const lines = new Map<number, { readonly line: string } | Unkept>()
    for (const standing of await this.#imports.jobsInLane(lane, ids)) {
      if (!standing) continue
      const importId = randomBytes(importIdBytes)
      const { job, further } = standing
      const isAwaited = job.status !== 'error' && (job.foreground || job.waiting > 0)
      lines.set(
        job.id,
        further?.bid !== undefined
          ? 'batch'
          : isAwaited
            ? 'waiting'
            : { line: lineOfRecord(recordOfStanding(standing, importId, names)) },
      )
    }
    return lines
  }

  #keep(record: { readonly line: string } | Unkept | undefined): void {
    if (typeof record === 'object') this.#records.push(record.line)
    else if (record) this.#unkept.set(record, (this.#unkept.get(record) ?? 0) + 1)
  }
}
