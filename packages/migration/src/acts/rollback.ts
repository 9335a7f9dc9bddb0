import type { LaneNames } from '@crossgear/core-scheduler'
import type { ImportNote, RedisImports, StandingJob } from '@crossgear/redis-store'
import { MigrationError } from '../errors.ts'
import { tagOf } from '../record/identity.ts'
import type { Mutable } from '../record/record.ts'
import type { Source } from '../source.ts'
import { recordOfStanding } from '../record/stored-job.ts'
import { inTarget, lanesOf } from './lanes.ts'

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
  const counts: Counts = { lanes: 0, undone: 0, restored: 0, begun: 0, joined: 0 }
  const lanes = await lanesOf(imports, name)
  if (lanes.length === 0) {
    throw new MigrationError('USAGE', `There is no migration ${name} in the target store.`)
  }
  const { mode, state } = await inTarget(() => imports.migrations.progress(name))
  if (mode === 'move' && state !== 'done') {
    const advice = 'let the same run go on to its end first'
    throw new MigrationError('USAGE', `The migration ${name} is half done: ${advice}.`)
  }
  for (const lane of lanes) {
    counts.lanes += 1
    const notes: ImportNote[] = []
    await inTarget(async () => {
      for await (const some of imports.notesOf(lane, tagOf(name))) notes.push(...some)
    })
    // The oldest stand at the end of their queue that is searched first.
    notes.sort((one, other) => one.id - other.id)
    for (let first = 0; first < notes.length; first += jobsAtOnce) {
      await undoSome(lane, notes.slice(first, first + jobsAtOnce), parts, counts)
      parts.onProgress?.(counts)
    }
  }
  await inTarget(() => imports.migrations.saveProgress(name, { state: 'done', cursor: '' }))
  return counts
}

async function undoSome(
  lane: string,
  notes: readonly ImportNote[],
  parts: RollbackParts,
  counts: Counts,
): Promise<void> {
  const { imports, source } = parts
  const ids = notes.map(({ id }) => id)
  const standing = await inTarget(() => imports.jobsInLane(lane, ids))
  const copied: Taken[] = []
  const moved: Taken[] = []
  for (const [at, note] of notes.entries()) {
    const found = standing[at]
    if (note.kind === 'joined') counts.joined += 1
    else if (!found) counts.begun += 1
    else (note.kind === 'created' ? copied : moved).push({ note, found })
  }
  await drop(lane, copied, parts, counts)
  if (moved.length === 0) return
  if (!source?.restore) {
    throw new MigrationError(
      'USAGE',
      'Moved jobs go back to their source: give it with --from, and it must accept jobs.',
    )
  }
  const held = await hold(lane, moved, parts, counts)
  const records = held.map(({ note, found }) => recordOfStanding(found, note.importId, parts.names))
  await source.restore(records)
  counts.restored += await drop(lane, held, parts, counts)
}

interface Taken {
  readonly note: ImportNote
  /** As read before any change. */
  readonly found: StandingJob
}

const requestOf = ({ note, found }: Taken) => ({
  note,
  ...(found.job.failure !== undefined && { failure: found.job.failure }),
})

/** Moves jobs that no worker has begun to the dead set, out of the workers' reach. */
async function hold(
  lane: string,
  taken: readonly Taken[],
  { imports }: RollbackParts,
  counts: Counts,
): Promise<readonly Taken[]> {
  const untilMs = Date.now() + heldMs
  const results = await inTarget(() => imports.undo(lane, taken.map(requestOf), untilMs))
  counts.begun += results.filter((result) => result === 'begun').length
  return taken.flatMap(({ note, found }, at) => {
    if (results[at] !== 'done') return []
    const value = Buffer.concat([Buffer.from('h'), note.value.subarray(1)])
    return [{ note: { ...note, value }, found }]
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
