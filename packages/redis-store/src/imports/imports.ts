import { chunks } from '../chunks.ts'
import type { RedisContext } from '../connection/redis-context.ts'
import { dueOf } from '../jobs/job-fields.ts'
import { jobOf } from '../jobs/job-hash.ts'
import { unpack } from '../scripts/packed.ts'
import { Registration } from '../lanes/registration.ts'
import type { ScriptArgument } from '../scripts/script-name.ts'
import type { TurnLimits } from '../step/throttle-arguments.ts'
import { addJob, type ImportedJob } from './imported-job.ts'
import { noteOf, type ImportNote } from './import-note.ts'
import { importKeptSeconds, MigrationNotes } from './migration-notes.ts'
import { NoteRenewals } from './note-renewals.ts'
import { furtherOf, heldOf, type StandingJob } from './standing-job.ts'

/** Jobs per step: some 2 ms of the store's time. */
const jobsPerStep = 100
/** Payload bytes read at once. */
const readBytes = 8 * 1024 * 1024
const bucketsPerLane = 256
const longFields = ['input', 'envelope', 'failure'] as const

/** `known`: it came before. `full`: no room for more dead jobs, or notes, in the lane. */
export type ImportResult =
  | { readonly kind: 'created' | 'joined'; readonly id: number }
  | { readonly kind: 'known'; readonly note: ImportNote }
  | { readonly kind: 'full'; readonly what: 'dead' | 'notes' }

/** A job to take back, as it was read. */
export interface UndoRequest {
  readonly note: ImportNote
  readonly failure?: string
}

export type UndoResult = 'done' | 'begun' | 'changed'

const undoResults: readonly UndoResult[] = ['begun', 'done', 'changed']

/** Imports jobs from other systems, each once, and keeps the progress of migrations. */
export class RedisImports {
  /** How far migrations are. */
  readonly migrations: MigrationNotes
  readonly #context: RedisContext
  readonly #deadPerLane: number
  readonly #turnLimits: TurnLimits
  readonly #renewals = new NoteRenewals()
  readonly #registration: Registration
  /**
   * True if the server had no replicas at the last look: only they could have other subscribers.
   * False in a cluster.
   */
  #isSole = false

  constructor(
    context: RedisContext,
    bounds: { readonly deadPerLane: number },
    turnLimits: TurnLimits,
  ) {
    this.migrations = new MigrationNotes(context)
    this.#context = context
    this.#deadPerLane = bounds.deadPerLane
    this.#turnLimits = turnLimits
    this.#registration = new Registration(context)
  }

  /**
   * The store's clock, microseconds since 1970. Asked for regularly: the server may have got
   * replicas.
   */
  async nowUs(): Promise<number> {
    const { call, redis, isCluster } = this.#context
    const [time, info] = await Promise.all([
      call(() => redis.time()),
      isCluster ? '' : call(() => redis.info('replication')),
    ])
    this.#isSole = /^role:master\r?$/m.test(info) && /^connected_slaves:0\r?$/m.test(info)
    // Digits, whatever ioredis's types say.
    const [seconds, microseconds] = time.map(String)
    return Number(seconds) * 1_000_000 + Number(microseconds)
  }

  /** Stores jobs that are not known yet. `tag`: 4 bytes for the migration. */
  async store(
    lane: string,
    tag: Buffer,
    jobs: readonly ImportedJob[],
  ): Promise<readonly ImportResult[]> {
    const steps = Array.from(chunks(jobs, jobsPerStep), (some) => this.#step(lane, tag, some))
    const results = await Promise.all(steps)
    return results.flat()
  }

  /** Notes that the source no longer has these jobs. */
  async moved(lane: string, importIds: readonly Buffer[]): Promise<void> {
    const { run, keys } = this.#context
    for (const some of chunks(importIds, jobsPerStep)) {
      await run('import-moved', [keys.uid(lane)], [lane, ...some])
    }
  }

  /** The notes of these imports. */
  async notes(lane: string, importIds: readonly Buffer[]): Promise<(ImportNote | undefined)[]> {
    const { keys } = this.#context
    const values = await this.#context.pipeline((pipeline) => {
      for (const id of importIds) pipeline.hgetBuffer(keys.imported(lane, id[0] ?? 0), id)
    })
    return importIds.map((id, at) => {
      const value = values[at]
      return Buffer.isBuffer(value) ? noteOf(id, value) : undefined
    })
  }

  /** All notes of a lane under one tag, unordered. */
  async *notesOf(lane: string, tag: Buffer): AsyncGenerator<readonly ImportNote[]> {
    const { call, redis, keys } = this.#context
    for (let bucket = 0; bucket < bucketsPerLane; bucket += 1) {
      const key = keys.imported(lane, bucket)
      const found: ImportNote[] = []
      let cursor = '0'
      do {
        const [next, pairs] = await call(() => redis.hscanBuffer(key, cursor, 'COUNT', 1_000))
        for (const [id, value] of chunks(pairs, 2)) {
          const note = id && value && noteOf(id, value)
          if (note?.tag.equals(tag)) found.push(note)
        }
        cursor = next.toString()
      } while (cursor !== '0')
      if (found.length > 0) yield found
    }
  }

  /** Bytes of what jobs hold. */
  async bytesOf(lane: string, ids: readonly number[]): Promise<number> {
    const { keys } = this.#context
    const sizes = await this.#context.pipeline((pipeline) => {
      for (const id of ids) {
        for (const field of longFields) pipeline.hstrlen(keys.job(lane, id), field)
      }
    })
    return sizes.reduce<number>((sum, size) => sum + Number(size), 0)
  }

  /** The current state of jobs, in bounded reads. */
  async jobsInLane(lane: string, ids: readonly number[]): Promise<(StandingJob | undefined)[]> {
    const { keys } = this.#context
    const sizes = await this.#context.pipeline((pipeline) => {
      for (const id of ids) pipeline.hstrlen(keys.job(lane, id), 'input')
    })
    const found: (StandingJob | undefined)[] = []
    for (let first = 0; first < ids.length;) {
      let end = first
      for (let bytes = 0; end < ids.length && (end === first || bytes < readBytes); end += 1) {
        bytes += Number(sizes[end])
      }
      found.push(...(await this.#read(lane, ids.slice(first, end))))
      first = end
    }
    return found
  }

  /** Removes jobs from the store; with `holdUntilMs` moves them to the dead set until then. */
  async undo(
    lane: string,
    requests: readonly UndoRequest[],
    holdUntilMs?: number,
  ): Promise<readonly UndoResult[]> {
    const { run, keys } = this.#context
    const what = holdUntilMs === undefined ? 'drop' : 'hold'
    const results: UndoResult[] = []
    for (let searched = ''; results.length < requests.length;) {
      const args: ScriptArgument[] = [lane, what, holdUntilMs ?? 0, searched]
      args.push(this.#context.queueOf(lane))
      for (const { note, failure } of requests.slice(results.length).slice(0, jobsPerStep)) {
        args.push(note.importId, note.value, failure ?? '')
      }
      const [digits, next] = (await run('import-undo', [keys.uid(lane)], args)) as Buffer[]
      for (const digit of String(digits)) results.push(undoResults[Number(digit)] ?? 'changed')
      searched = String(next)
    }
    return results
  }

  async #step(lane: string, tag: Buffer, jobs: readonly ImportedJob[]): Promise<ImportResult[]> {
    const { run, keys, withEpoch } = this.#context
    const queue = this.#context.queueOf(lane)
    const renewed = this.#renewals.take(
      lane,
      jobs.map(({ importId }) => importId[0] ?? 0),
    )
    const isSole = this.#isSole ? 1 : 0
    const words: ScriptArgument[] = [lane, queue, tag, importKeptSeconds, renewed]
    words.push(this.#deadPerLane, isSole)
    const epochAt = words.push(0) - 1
    words.push(this.#turnLimits(lane), jobs.length)
    for (const imported of jobs) addJob(words, imported)
    const args = withEpoch(words, epochAt)
    let packed = await run('import', [keys.uid(lane)], args)
    // The job was removed since the import began.
    while (typeof packed === 'number') {
      await this.#registration.register(lane)
      packed = await run('import', [keys.uid(lane)], args)
    }
    const reply = unpack(packed as Buffer)
    if (typeof reply === 'number') return jobs.map((_job, at) => createdAs(reply + at))
    return (reply as (number | Uint8Array)[]).map((result, at) =>
      resultOf(jobs[at]?.importId ?? Buffer.alloc(0), result),
    )
  }

  async #read(lane: string, ids: readonly number[]): Promise<(StandingJob | undefined)[]> {
    const { keys } = this.#context
    const replies = await this.#context.pipeline((pipeline) => {
      for (const id of ids) {
        pipeline.hgetallBuffer(keys.job(lane, id))
        pipeline.zscore(keys.queue(lane, 'scheduled'), id)
      }
    })
    const locks = await this.#lockTimes(
      lane,
      ids.map((id, at) => [id, (replies[2 * at] as Record<string, Buffer>)['once']]),
    )
    const found = ids.map((id, at): StandingJob | undefined => {
      const pairs = Object.entries(replies[2 * at] as Record<string, Buffer>)
      const flat = pairs.flatMap(([name, value]) => [Buffer.from(name), value])
      const job = jobOf(lane, id, flat)
      const score = replies[2 * at + 1] as string | null
      if (!job) return undefined
      const fields = replies[2 * at] as Record<string, Buffer>
      const held = heldOf(fields['held'])
      const standing = { job, ...furtherOf(fields, locks.get(id)) }
      if (held && job.status === 'error') return { ...standing, ...held }
      // A job that waits for its turn is in the queue, see lua/lib/turns.lua.
      const isScheduled = score !== null && Number(score) < 5e13
      return { ...standing, ...(isScheduled && { dueAtMs: dueOf(score) }) }
    })
    const forgetAtMs = await this.#forgetTimes(
      lane,
      found.flatMap((standing) =>
        standing?.job.status === 'error' && !standing.heldFrom ? standing.job.id : [],
      ),
    )
    return found.map((standing) => {
      const atMs = standing && forgetAtMs.get(standing.job.id)
      return standing && { ...standing, ...(atMs !== undefined && { forgetAtMs: atMs }) }
    })
  }

  /** Until when jobs hold their locks, by id, milliseconds since 1970. */
  async #lockTimes(
    lane: string,
    jobs: readonly (readonly [id: number, lock: Buffer | undefined])[],
  ): Promise<ReadonlyMap<number, number>> {
    const { keys } = this.#context
    const locked = jobs.flatMap(([id, lock]) => (lock ? [{ id, lock }] : []))
    const times = new Map<number, number>()
    if (locked.length === 0) return times
    const replies = await this.#context.pipeline((pipeline) => {
      for (const { lock } of locked) {
        const key = Buffer.concat([Buffer.from(`${keys.uniqueLock(lane)}:`), lock])
        pipeline.get(key)
        pipeline.pexpiretime(key)
      }
    })
    for (const [at, { id }] of locked.entries()) {
      const untilMs = Number(replies[2 * at + 1])
      if (replies[2 * at] === String(id) && untilMs > 0) times.set(id, untilMs)
    }
    return times
  }

  /** When dead jobs are dropped, by id, milliseconds since 1970. */
  async #forgetTimes(lane: string, ids: readonly number[]): Promise<ReadonlyMap<number, number>> {
    const key = this.#context.keys.dead(lane)
    const scores = await this.#context.pipeline((pipeline) => {
      for (const id of ids) pipeline.zscore(key, id)
    })
    return new Map(
      ids.flatMap((id, at) => (scores[at] === null ? [] : [[id, Number(scores[at])] as const])),
    )
  }
}

function createdAs(id: number): ImportResult {
  return { kind: 'created', id }
}

function resultOf(importId: Buffer, result: number | Uint8Array): ImportResult {
  if (typeof result === 'number') {
    return result > 0 ? createdAs(result) : { kind: 'joined', id: -result }
  }
  const value = Buffer.from(result)
  const what = value.toString('latin1')
  if (what === 'dead' || what === 'notes') return { kind: 'full', what }
  return { kind: 'known', note: noteOf(importId, value) }
}
