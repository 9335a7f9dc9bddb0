import type { Job, JobState, LookExtra } from '@crossgear/core-scheduler'
import { longFields } from './job-fields.ts'
import { jobOf, lookedAtFields, stateOf } from './job-hash.ts'
import { ContextPart } from '../connection/context-part.ts'

/** Payload bytes read at once; a longer one is read alone. */
const bytesPerAnswer = 4 * 1024 * 1024

/** Reads jobs: whole ones in pieces of bounded size, or without payloads for most looks. */
export class JobReads extends ContextPart {
  async read(lane: string, ids: readonly number[]): Promise<readonly (Job | undefined)[]> {
    const { keys, onForeign } = this.context
    const jobs: (Job | undefined)[] = []
    for (const some of await this.#inPieces(lane, ids)) {
      const replies = await this.context.pipeline((pipeline) => {
        for (const id of some) pipeline.hgetallBuffer(keys.job(lane, id))
      })
      for (const [at, id] of some.entries())
        jobs.push(jobOf(lane, id, flat(replies[at]), onForeign))
    }
    return jobs
  }

  async look(
    lane: string,
    ids: readonly number[],
    extras: readonly LookExtra[] = [],
  ): Promise<readonly (JobState | undefined)[]> {
    const names = lookedAtFields(extras)
    const replies = await this.#fields(lane, ids, names)
    const { onForeign } = this.context
    const jobs = ids.map((id, at) => stateOf(lane, id, names, replies[at] ?? [], onForeign))
    return extras.includes('output') ? this.#withOutputs(lane, jobs) : jobs
  }

  /** Outputs of ended jobs; undefined for one that is gone. */
  async #withOutputs(
    lane: string,
    jobs: readonly (JobState | undefined)[],
  ): Promise<readonly (JobState | undefined)[]> {
    const ended = jobs.flatMap((job) => (job && hasEnded(job) ? [job.id] : []))
    if (ended.length === 0) return jobs
    const outputs = new Map<number, readonly (Buffer | null)[]>()
    for (const some of await this.#inPieces(lane, ended)) {
      const replies = await this.#fields(lane, some, ['status', 'output'])
      for (const [at, id] of some.entries()) outputs.set(id, replies[at] ?? [])
    }
    return jobs.map((job) => {
      if (!job || !hasEnded(job)) return job
      const [status, output] = outputs.get(job.id) ?? []
      return status ? { ...job, ...(output && { output }) } : undefined
    })
  }

  async #fields(
    lane: string,
    ids: readonly number[],
    names: readonly string[],
  ): Promise<(readonly (Buffer | null)[])[]> {
    const { keys } = this.context
    const replies = await this.context.pipeline((pipeline) => {
      for (const id of ids) pipeline.hmgetBuffer(keys.job(lane, id), ...names)
    })
    return replies as (Buffer | null)[][]
  }

  /** Groups jobs so that their payloads fit one answer, or one job. */
  async #inPieces(lane: string, ids: readonly number[]): Promise<readonly (readonly number[])[]> {
    if (ids.length < 2) return [ids]
    const { keys } = this.context
    const lengths = (await this.context.pipeline((pipeline) => {
      for (const id of ids) {
        for (const name of longFields) pipeline.hstrlen(keys.job(lane, id), name)
      }
    })) as number[]
    const pieces: number[][] = []
    let room = 0
    for (const [at, id] of ids.entries()) {
      const first = at * longFields.length
      const bytes = lengths
        .slice(first, first + longFields.length)
        .reduce((sum, length) => sum + length, 0)
      const piece = pieces.at(-1)
      if (piece && bytes <= room) piece.push(id)
      else {
        pieces.push([id])
        room = bytesPerAnswer
      }
      room -= bytes
    }
    return pieces
  }
}

function hasEnded({ status }: JobState): boolean {
  return status === 'success' || status === 'error'
}

/**
 * ioredis returns a hash as an object of Buffers or as a flat list, depending on version and call.
 */
function flat(reply: unknown): Buffer[] {
  if (Array.isArray(reply)) return reply as Buffer[]
  return Object.entries(reply as Record<string, Buffer>).flatMap(([name, value]) => [
    Buffer.from(name),
    value,
  ])
}
