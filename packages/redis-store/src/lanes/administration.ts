import type { AdminStore, JobSummary, LaneLimits } from '@crossgear/core-scheduler'
import type { RedisContext } from '../connection/redis-context.ts'
import { jobIdOf } from '../jobs/job-fields.ts'

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
export class RedisAdministration implements AdminStore {
  readonly #context: RedisContext

  constructor(context: RedisContext) {
    this.#context = context
  }

  async setLimits(lane: string, limits: LaneLimits): Promise<void> {
    const { keys, transaction } = this.#context
    await transaction((commands) => {
      for (const [band, most] of Object.entries(limits)) {
        if (most > 0) commands.hset(keys.meta(lane), `max:${band}`, most)
        else commands.hdel(keys.meta(lane), `max:${band}`)
      }
    })
  }

  async cancel(lane: string, id: number): Promise<boolean> {
    const { run, keys, node } = this.#context
    for (let searched = ''; ;) {
      const reply = await run('cancel', [keys.busy(lane)], [lane, node, id, searched])
      if (typeof reply === 'number') return reply === 1
      searched = String(reply)
    }
  }

  async listJobs(
    lane: string,
    from: number,
    count: number,
  ): Promise<{ readonly jobs: readonly JobSummary[]; readonly more: boolean }> {
    const { run, keys } = this.#context
    const replies = await Promise.all(
      listedPlaces.map((place) => run('list-jobs', [keys.busy(lane)], [lane, place, from, count])),
    )
    const pages = replies as readonly (readonly ListedReply[])[]
    return {
      jobs: pages.flatMap((page) => page.flatMap((reply) => summaryOf(lane, reply) ?? [])),
      more: pages.some((page) => page.length === count),
    }
  }

  async clearLane(lane: string, max: number): Promise<readonly number[] | 'busy'> {
    const { run, keys, node } = this.#context
    const ids = (await run('clear-lane', [keys.busy(lane)], [lane, node, max])) as Buffer[] | number
    return typeof ids === 'number' ? 'busy' : ids.map((id) => Number(id.toString()))
  }

  async unregisterLane(lane: string): Promise<void> {
    const { keys, transaction } = this.#context
    const said = `unlane\0${lane}\0`
    await transaction((commands) => commands.hdel(keys.lanes, lane).publish(keys.events, said))
  }
}

/** Undefined for an entry of another program, which names no job. */
function summaryOf(lane: string, reply: ListedReply): JobSummary | undefined {
  const [entry, losses, foreground, abandoned, unique] = reply
  const id = jobIdOf(entry)
  if (id === undefined) return undefined
  return {
    ...{ lane, id, losses },
    foreground: foreground === 1,
    abandoned: abandoned === 1,
    ...(unique.length > 0 && { unique }),
  }
}
