import type { LaneNames } from '@crossgear/core-scheduler'
import type { ImportNote, RedisImports, StandingJob } from '@crossgear/redis-store'
import { MigrationError } from '../errors.ts'
import { tagOf } from '../record/identity.ts'
import { grouped } from '../picked.ts'
import type { Mutable } from '../record/record.ts'
import type { Source } from '../source.ts'
import { recordOfStanding } from '../record/stored-job.ts'
import { inTarget, lanesOf } from './lanes.ts'
import { type LeftJob, leftJobsOf } from './left-jobs.ts'

/** Counts of a rollback. */
export interface RollbackCounts {
  readonly lanes: number
  /** Removed from the target. */
  readonly undone: number
  /** Of these, restored at their source. */
  readonly restored: number
  /** Stay: a worker has or had them. */
  readonly begun: number
  /** Jobs that joined others and are not the migration's. */
  readonly joined: number
  /** Jobs that the last run of a move did not take: they stayed at the source, ahead of those that come back. */
  readonly rejected: number
  /** The first of these. */
  readonly left: readonly LeftJob[]
}

export interface RollbackParts {
  readonly imports: RedisImports
  readonly names: LaneNames
  readonly name: string
  /** Destination of moved jobs; absent if it no longer exists. */
  readonly source?: Source
  readonly onProgress?: (counts: RollbackCounts) => void
}

type Counts = Mutable<RollbackCounts>

const jobsAtOnce = 100
/** Expiry of a job on its way back, in case the rollback stops half way for good: 180 days. */
const heldMs = 180 * 24 * 3_600_000

/**
 * Takes back a migration's jobs that no worker has begun. A moved job returns to its source first.
 */
export async function rollback(parts: RollbackParts): Promise<RollbackCounts> {
  const { imports, name } = parts
  const counts: Counts = {
    lanes: 0,
    undone: 0,
    restored: 0,
    begun: 0,
    joined: 0,
    rejected: 0,
    left: [],
  }
  const lanes = await lanesOf(imports, name)
  if (lanes.length === 0) {
    throw new MigrationError('USAGE', `There is no migration ${name} in the target store.`)
  }
  const { mode, state, left } = await inTarget(() => imports.migrations.progress(name))
  if (mode === 'move') {
    const { count, first } = leftJobsOf(left)
    counts.rejected = count
    counts.left = first
  }
  if (mode === 'move' && state !== 'done') {
    const advice = 'let the same run go on to its end first'
    throw new MigrationError('USAGE', `The migration ${name} is half done: ${advice}.`)
  }
  const walks: LaneWalk[] = []
  for (const lane of lanes) {
    counts.lanes += 1
    const notes: ImportNote[] = []
    await inTarget(async () => {
      for await (const some of imports.notesOf(lane, tagOf(name))) notes.push(...some)
    })
    // The oldest stand at the end of their queue that is searched first.
    notes.sort((one, other) => one.id - other.id)
    walks.push({ lane, notes, at: 0, moved: [] })
  }
  for (const together of grouped(walks, ({ lane }) => parts.names.parse(lane).queue).values()) {
    await undoQueue(together, parts, counts)
  }
  await inTarget(() => imports.migrations.saveProgress(name, { state: 'done', cursor: '' }))
  return counts
}

/** A lane's way back: its notes from `at` on are to be read, and what was moved and read is to go back. */
interface LaneWalk {
  readonly lane: string
  readonly notes: readonly ImportNote[]
  at: number
  readonly moved: Taken[]
}

/** Takes back the jobs of a queue; moved ones in the order in which they came, whatever their lanes. */
async function undoQueue(
  walks: readonly LaneWalk[],
  parts: RollbackParts,
  counts: Counts,
): Promise<void> {
  const readAtOnce = Math.max(1, Math.ceil(jobsAtOnce / walks.length))
  for (;;) {
    const taken: Taken[] = []
    while (taken.length < jobsAtOnce) {
      for (const walk of walks) await readMore(walk, readAtOnce, parts, counts)
      const next = oldestOf(walks)
      if (!next) break
      taken.push(next)
    }
    if (taken.length === 0) return
    await giveBack(taken, parts, counts)
    parts.onProgress?.(counts)
  }
}

/** Takes the oldest job that was read. */
function oldestOf(walks: readonly LaneWalk[]): Taken | undefined {
  let first: LaneWalk | undefined
  for (const walk of walks) {
    const [job] = walk.moved
    const [oldest] = first?.moved ?? []
    if (job && (!oldest || arrivalOf(job) < arrivalOf(oldest))) first = walk
  }
  return first?.moved.shift()
}

function arrivalOf({ found }: Taken): number {
  return found.job.enqueuedAtMs ?? 0
}

/** Reads notes of a lane until one is of a job that was moved. Copies are only dropped. */
async function readMore(
  walk: LaneWalk,
  atOnce: number,
  parts: RollbackParts,
  counts: Counts,
): Promise<void> {
  const { lane } = walk
  while (walk.moved.length === 0 && walk.at < walk.notes.length) {
    const notes = walk.notes.slice(walk.at, walk.at + atOnce)
    walk.at += notes.length
    const ids = notes.map(({ id }) => id)
    const standing = await inTarget(() => parts.imports.jobsInLane(lane, ids))
    const copied: Taken[] = []
    for (const [at, note] of notes.entries()) {
      const found = standing[at]
      if (note.kind === 'joined') counts.joined += 1
      else if (!found) counts.begun += 1
      else (note.kind === 'created' ? copied : walk.moved).push({ lane, note, found })
    }
    await drop(lane, copied, parts, counts)
  }
}

async function giveBack(
  taken: readonly Taken[],
  parts: RollbackParts,
  counts: Counts,
): Promise<void> {
  const { source } = parts
  if (!source?.restore) {
    throw new MigrationError(
      'USAGE',
      'Moved jobs go back to their source: give it with --from, and it must accept jobs.',
    )
  }
  const held = new Map<Taken, Taken>()
  for (const [lane, some] of grouped(taken, (one) => one.lane)) {
    for (const [one, itself] of await hold(lane, some, parts, counts)) held.set(one, itself)
  }
  const inOrder = taken.flatMap((one) => held.get(one) ?? [])
  const records = inOrder.map(({ note, found }) =>
    recordOfStanding(found, note.importId, parts.names),
  )
  await source.restore(records)
  for (const [lane, some] of grouped(inOrder, (one) => one.lane)) {
    counts.restored += await drop(lane, some, parts, counts)
  }
}

interface Taken {
  readonly lane: string
  readonly note: ImportNote
  /** As read before any change. */
  readonly found: StandingJob
}

const requestOf = ({ note, found }: Taken) => ({
  note,
  ...(found.job.failure !== undefined && { failure: found.job.failure }),
})

/** Moves jobs that no worker has begun to the dead set, out of the workers' reach: each with its note from now on. */
async function hold(
  lane: string,
  taken: readonly Taken[],
  { imports }: RollbackParts,
  counts: Counts,
): Promise<readonly (readonly [Taken, Taken])[]> {
  const untilMs = Date.now() + heldMs
  const results = await inTarget(() => imports.undo(lane, taken.map(requestOf), untilMs))
  counts.begun += results.filter((result) => result === 'begun').length
  return taken.flatMap((one, at) => {
    if (results[at] !== 'done') return []
    const value = Buffer.concat([Buffer.from('h'), one.note.value.subarray(1)])
    return [[one, { ...one, note: { ...one.note, value } }] as const]
  })
}

async function drop(
  lane: string,
  taken: readonly Taken[],
  { imports }: RollbackParts,
  counts: Counts,
): Promise<number> {
  if (taken.length === 0) return 0
  const results = await inTarget(() => imports.undo(lane, taken.map(requestOf)))
  counts.begun += results.filter((result) => result === 'begun').length
  const undone = results.filter((result) => result === 'done').length
  counts.undone += undone
  return undone
}
