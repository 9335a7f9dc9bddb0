import {
  type AdminStore,
  defaultLevel,
  type DroppedPiece,
  type JobSummary,
  type LaneLimits,
  type Replaced,
  type Replacement,
  type Taken,
} from '@crossgear/core-scheduler'
import { numbersOf, withdrawLane } from './registration.ts'
import { ContextPart } from '../connection/context-part.ts'
import { jobIdOf } from '../jobs/job-fields.ts'
import type { ScriptArgument } from '../scripts/script-name.ts'

/** Places of listed jobs; the dead set is not among them. */
const listedPlaces = ['high', 'normal', 'low', 'scheduled', 'busy'] as const

type ListedReply = readonly [
  id: Buffer,
  losses: number,
  foreground: number,
  abandoned: number,
  unique: Buffer,
]

/** The store port's part for administrators. */
export class RedisAdministration extends ContextPart implements AdminStore {
  async setLimits(lane: string, limits: LaneLimits): Promise<void> {
    const { keys, transaction } = this.context
    await transaction((commands) => {
      for (const [band, most] of Object.entries(limits)) {
        if (most > 0) commands.hset(keys.meta(lane), `max:${band}`, most)
        else commands.hdel(keys.meta(lane), `max:${band}`)
      }
    })
  }

  async limits(lanes: readonly string[]): Promise<readonly LaneLimits[]> {
    const { keys, eachLane } = this.context
    const replies = await eachLane(lanes, (commands, lane) =>
      commands.hmget(keys.meta(lane), 'max:high', 'max:normal', 'max:low'),
    )
    return replies.map((reply) => {
      const [high, normal, low] = (reply as (string | null)[]).map(Number)
      return { high: high || 0, normal: normal || 0, low: low || 0 }
    })
  }

  async cancel(lane: string, id: number, as: Taken = 'cancelled'): Promise<boolean> {
    const { run, keys, node } = this.context
    const queue = this.context.queueOf(lane)
    for (let searched = ''; ;) {
      const args = [lane, node, id, searched, as, queue]
      const reply = await run('cancel', [keys.busy(lane)], args)
      if (typeof reply === 'number') return reply === 1
      searched = String(reply)
    }
  }

  async replace(lane: string, id: number, job: Replacement): Promise<Replaced> {
    const { run, keys, withEpoch } = this.context
    const queue = this.context.queueOf(lane)
    const due = job.dueAtMs === undefined ? '' : Math.floor(job.dueAtMs)
    for (let searched = ''; ;) {
      const words = [lane, id, searched, queue, 0, due, ...changedFields(job)]
      const reply = await run('replace', [keys.busy(lane)], withEpoch(words, 4))
      if (Array.isArray(reply)) {
        const [newId, more] = reply as [number, Buffer | number]
        if (newId > 0) return { kind: 'replaced', id: newId, isRerun: more === 1 }
        return { kind: String(more) as Exclude<Replaced['kind'], 'replaced'> }
      }
      searched = String(reply)
    }
  }

  async listJobs(
    lane: string,
    from: number,
    count: number,
  ): Promise<{ readonly jobs: readonly JobSummary[]; readonly more: boolean }> {
    const { run, keys } = this.context
    const replies = await Promise.all(
      listedPlaces.map((place) => run('list-jobs', [keys.busy(lane)], [lane, place, from, count])),
    )
    const pages = replies as readonly (readonly ListedReply[])[]
    return {
      jobs: pages.flatMap((page) => page.flatMap((reply) => summaryOf(lane, reply) ?? [])),
      more: pages.some((page) => page.length === count),
    }
  }

  async dropLane(lane: string, max: number): Promise<DroppedPiece | 'busy'> {
    const { run, keys, node, isCluster } = this.context
    const [number = 0] = isCluster ? await numbersOf(this.context, [lane]) : []
    const args = [lane, node, max, number, this.context.queueOf(lane)]
    const reply = await run('clear-lane', [keys.busy(lane)], args)
    if (typeof reply === 'number') return 'busy'
    const [ids, ...gone] = reply as [Buffer[], ...Buffer[]]
    if (isCluster && gone.length > 0) await withdrawLane(this.context, lane, gone)
    return {
      ids: ids.map((id) => Number(id.toString())),
      ...(gone.length > 0 && { laneNumber: Number(gone[0]) }),
    }
  }
}

/** The fields of a hash that a replacement changes, each with its value. */
function changedFields(job: Replacement): ScriptArgument[] {
  const { input, level, envelope, turn, staleAtMs, diesStale, origin } = job
  const fields: ScriptArgument[] = ['origin', origin, 'stale', staleAtMs ?? '']
  fields.push('dies_stale', diesStale ? 1 : '')
  if (input !== undefined) fields.push('input', input)
  if (level !== undefined) fields.push('level', level === defaultLevel ? '' : level)
  if (envelope !== undefined) fields.push('envelope', envelope)
  if (turn !== undefined) fields.push('turn', turn)
  return fields
}

/** Undefined for an entry of another program, which names no job. */
function summaryOf(lane: string, reply: ListedReply): JobSummary | undefined {
  const [entry, losses, foreground, abandoned, unique] = reply
  const id = jobIdOf(entry)
  if (id === undefined) return undefined
  return {
    lane,
    id,
    losses,
    foreground: foreground === 1,
    abandoned: abandoned === 1,
    ...(unique.length > 0 && { unique }),
  }
}
