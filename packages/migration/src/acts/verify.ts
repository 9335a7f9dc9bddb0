import type { LaneNames } from '@crossgear/core-scheduler'
import type { ImportNote, RedisImports } from '@crossgear/redis-store'
import { faultOf } from '../record/fit.ts'
import { tagOf } from '../record/identity.ts'
import { boundsOf, defaultMaxPayloadBytes, type RunOptions } from './options.ts'
import { inTarget, lanesOf } from './lanes.ts'
import { grouped } from '../picked.ts'
import type { JobRecord } from '../record/record.ts'
import type { Selection } from './selection.ts'
import type { Source } from '../source.ts'
import { digestOfRecord, digestOfStanding, laneOf } from '../record/stored-job.ts'

/** The comparison of one lane. */
export interface VerifyRow {
  readonly lane: string
  /** Jobs of the source, or of the notes if the source no longer has them. */
  readonly jobs: number
  /** In the target, unchanged. */
  readonly equal: number
  /** Once in the target: done or dropped since. */
  readonly ended: number
  /** Joined another job with their unique id. */
  readonly joined: number
  /** Never arrived. */
  readonly missing: number
  /** In the target, but changed. */
  readonly different: number
  /** Of noted and found jobs; equal if all jobs are. */
  readonly checksums: readonly [source: string, target: string]
  /** The first job that is missing or different. */
  readonly example?: string
}

export interface Verification {
  readonly rows: readonly VerifyRow[]
  /** Jobs of the source that no run takes: they are not in the target. */
  readonly rejected: number
  readonly isEqual: boolean
}

export interface VerifyParts {
  readonly imports: RedisImports
  readonly names: LaneNames
  readonly options: Pick<RunOptions, 'name' | 'batch' | 'maxPayloadBytes'>
}

/** Compares each job of a source with the target's: payload, level, unique id, jid and due time. */
export async function verifyCopy(
  source: Source,
  selection: Selection,
  parts: VerifyParts,
): Promise<Verification> {
  const sums = new Sums()
  const max = parts.options.maxPayloadBytes ?? defaultMaxPayloadBytes
  for await (const { records, rejects } of source.pages(undefined, boundsOf(parts.options))) {
    const wanted = records.flatMap((record) => selection.pick(record) ?? [])
    const sound = wanted.filter((record) => !faultOf(record, max))
    sums.rejected += rejects.length + wanted.length - sound.length
    const byLane = grouped(sound, (record) => laneOf(record, parts.names))
    for (const [lane, some] of byLane) await compareRecords(lane, some, parts, sums)
  }
  return sums.finish()
}

/** Compares a migration's notes with the target, for a source that no longer has the jobs. */
export async function verifyMoved(parts: VerifyParts): Promise<Verification> {
  const { imports, options } = parts
  const sums = new Sums()
  for (const lane of await lanesOf(imports, options.name)) {
    for await (const notes of imports.notesOf(lane, tagOf(options.name))) {
      const expected = notes.map((note) => ({ note, digest: note.digest }))
      await inTarget(() => compare(lane, expected, parts, sums))
    }
  }
  return sums.finish()
}

async function compareRecords(
  lane: string,
  records: readonly JobRecord[],
  parts: VerifyParts,
  sums: Sums,
): Promise<void> {
  await inTarget(async () => {
    const ids = records.map(({ importId }) => importId)
    const notes = await parts.imports.notes(lane, ids)
    const expected = records.map((record, at) => ({
      note: notes[at],
      digest: digestOfRecord(record),
      ...(record.dueAtMs !== undefined &&
        record.state !== 'working' && { dueAtMs: record.dueAtMs }),
    }))
    await compare(lane, expected, parts, sums)
  })
}

interface Expected {
  readonly note: ImportNote | undefined
  readonly digest: Buffer
  readonly dueAtMs?: number
}

async function compare(
  lane: string,
  expected: readonly Expected[],
  { imports }: VerifyParts,
  sums: Sums,
): Promise<void> {
  const ids = expected.map(({ note }) => note?.id ?? 0)
  const standing = await imports.jobsInLane(lane, ids)
  const row = sums.row(lane)
  for (const [at, { note, digest, dueAtMs }] of expected.entries()) {
    const found = standing[at]
    row.jobs += 1
    if (!note) row.miss('missing', 'a job of the source never came')
    else if (note.kind === 'joined') row.joined += 1
    else if (!note.digest.equals(digest))
      row.miss('different', `job ${note.id} was another one then`)
    else if (!found || found.job.status === 'success') row.ended += 1
    else {
      const other = digestOfStanding(found)
      const isOnTime =
        dueAtMs === undefined || found.dueAtMs === undefined || found.dueAtMs === dueAtMs
      row.compared(digest, other)
      if (!other.equals(digest)) row.miss('different', `job ${note.id} is not what it was`)
      else if (!isOnTime) row.miss('different', `job ${note.id} is due at another time`)
      else row.equal += 1
    }
  }
}

class RowDraft {
  readonly lane: string
  jobs = 0
  equal = 0
  ended = 0
  joined = 0
  missing = 0
  different = 0
  example?: string
  readonly #sums = [Buffer.alloc(8), Buffer.alloc(8)] as const

  constructor(lane: string) {
    this.lane = lane
  }

  miss(kind: 'missing' | 'different', example: string): void {
    this[kind] += 1
    this.example ??= example
  }

  /** Independent of the order of jobs. */
  compared(source: Buffer, target: Buffer): void {
    for (const [sum, digest] of [
      [this.#sums[0], source],
      [this.#sums[1], target],
    ] as const) {
      for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] ?? 0) ^ (digest[at] ?? 0)
    }
  }

  finish(): VerifyRow {
    const { lane, jobs, equal, ended, joined, missing, different, example } = this
    const [source, target] = this.#sums
    return {
      lane,
      jobs,
      equal,
      ended,
      joined,
      missing,
      different,
      checksums: [source.toString('hex'), target.toString('hex')],
      ...(example !== undefined && { example }),
    }
  }
}

class Sums {
  rejected = 0
  readonly #rows = new Map<string, RowDraft>()

  row(lane: string): RowDraft {
    const known = this.#rows.get(lane)
    if (known) return known
    const row = new RowDraft(lane)
    this.#rows.set(lane, row)
    return row
  }

  finish(): Verification {
    const rows = [...this.#rows.values()]
      .sort((one, other) => (one.lane < other.lane ? -1 : 1))
      .map((row) => row.finish())
    const wrong = rows.filter(({ missing, different }) => missing + different > 0)
    return { rows, rejected: this.rejected, isEqual: this.rejected === 0 && wrong.length === 0 }
  }
}
