import type { ImportResult } from '@crossgear/redis-store'
import {
  grouped,
  importedOf,
  type JobRecord,
  laneOf,
  recordOfLine,
  tagOf,
} from '@crossgear/migration'
import { actOf } from '../../../operations/audit/audit-trail.ts'
import { ApiError } from '../api-error.ts'
import type { Handlers } from '../api.ts'
import type { Scope } from '../scope.ts'
import type { HandlerParts } from '../handler-parts.ts'
import { recordsUpTo } from './act-piece.ts'

/** Notes of imports under this name are those of undone acts. */
const importName = 'crossgear undo'

const reasons = {
  joined: 'another job has its unique id or its lock',
  known: 'was put back before',
  dead: 'the function has as many dead jobs as are kept',
  notes: 'too many jobs of the function were put back or imported',
  jid: 'another job has its jid',
  unread: 'its record cannot be read',
} as const
type Reason = keyof typeof reasons

/** Puts the jobs of an act back where they were. */
export function undoActs({ scheduler, imports }: HandlerParts) {
  const { audit, registry } = scheduler

  const nameOf = async (entryId: string): Promise<string> => {
    const entry = await audit.find(entryId)
    const act = entry && actOf(entry)
    if (!act) throw new ApiError('not_found', 'the audit has no such entry')
    const { undo, noUndo = 'it deleted no jobs' } = act
    if (undo === undefined) throw new ApiError('not_accepted', `it cannot be undone: ${noUndo}`)
    return undo
  }

  const linesOf = async (undo: string): Promise<readonly string[]> => {
    const kept = await audit.kept(undo)
    if (kept.kind === 'kept') return kept.records
    const why = kept.kind === 'undone' ? 'it was undone already' : 'its day is over'
    throw new ApiError('not_accepted', why)
  }

  /** The records by lane; each that is not put back is counted. */
  const readable = (lines: readonly string[], left: Left, scope: Scope | undefined) => {
    const records = lines.map(recordOfLine).filter((record) => typeof record !== 'string')
    left.add('unread', lines.length - records.length)
    const byLane = grouped(records, (record) => laneOf(record, registry.names))
    for (const lane of byLane.keys()) scope?.demandTarget(lane)
    return byLane
  }

  /** Records that are not there again, under this import or as a job of the same jid. */
  const absent = async (lane: string, records: readonly JobRecord[], left: Left) => {
    const ids = records.map(({ importId }) => importId)
    const notes = await imports.notes(lane, ids)
    const wanted: JobRecord[] = []
    for (const [at, record] of records.entries()) {
      const { jid } = record
      if (notes[at]) left.add('known')
      else if (jid !== undefined && (await scheduler.jobs.refOfJid(jid))) left.add('jid')
      else wanted.push(record)
    }
    return wanted
  }

  /** Names of records that are still there, of all pieces of an act; where none is, the last, which says why. */
  const piecesOf = async (undo: string): Promise<readonly string[]> => {
    const names = recordsUpTo(undo)
    const kinds = await audit.keptKinds(names)
    const kept = names.filter((_name, at) => kinds[at] === 'kept')
    return kept.length > 0 ? kept : [undo]
  }

  /** Puts the jobs under a name back; returns how many. */
  const restore = async (undo: string, left: Left, scope: Scope | undefined): Promise<number> => {
    const lines = await linesOf(undo)
    let restored = 0
    const nowMs = scheduler.storeNowMs()
    for (const [lane, records] of readable(lines, left, scope)) {
      const wanted = await absent(lane, records, left)
      if (wanted.length === 0) continue
      const nowUs = await imports.nowUs()
      const jobs = wanted.map((record, at) => importedOf(record, nowMs, nowUs + at))
      for (const result of await imports.store(lane, tagOf(importName), jobs)) {
        const reason = reasonOf(result)
        if (reason === undefined) restored += 1
        else left.add(reason)
      }
    }
    await audit.undone(undo)
    return restored
  }

  return {
    async undoAct({ params, scope }) {
      const left = new Left()
      let restored = 0
      for (const undo of await piecesOf(await nameOf(params.entry))) {
        restored += await restore(undo, left, scope)
      }
      return { restored, left: left.list() }
    },

    async restoreJobs({ body, scope }) {
      const left = new Left()
      let restored = 0
      for (const undo of body.undo) restored += await restore(undo, left, scope)
      return { restored, left: left.list() }
    },
  } satisfies Partial<Handlers>
}

/** Undefined for a job that is there again. */
function reasonOf(result: ImportResult): Reason | undefined {
  if (result.kind === 'created') return undefined
  return result.kind === 'full' ? result.what : result.kind
}

/** Counts jobs that are not put back. */
class Left {
  readonly #jobs = new Map<Reason, number>()

  add(reason: Reason, jobs = 1): void {
    if (jobs > 0) this.#jobs.set(reason, (this.#jobs.get(reason) ?? 0) + jobs)
  }

  list() {
    return Array.from(this.#jobs, ([reason, jobs]) => ({ reason: reasons[reason], jobs }))
  }
}
