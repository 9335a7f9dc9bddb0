import type { JobState } from '@crossgear/core-scheduler'
import type { Static } from '@sinclair/typebox'
import type { Handlers } from '../api.ts'
import type { HandlerParts } from '../handler-parts.ts'
import { maxHits, type searchAnswer } from '../schemas/search.ts'
import type { Scope } from '../scope.ts'
import { stateOf } from './job-view.ts'

type Answer = Static<typeof searchAnswer>

/** Finds whatever has a name, without a look at payloads. */
export function searchReads({ scheduler, names, view }: HandlerParts) {
  const uniques = async (q: string): Promise<readonly (JobState | undefined)[]> => {
    const refs = await scheduler.jobs.findUnique(Buffer.from(q))
    return Promise.all(refs.slice(0, maxHits).map((ref) => scheduler.jobs.look(ref)))
  }

  const hitsOf = async (
    jobs: readonly (JobState | undefined)[],
    by: 'name' | 'unique',
    scope: Scope | undefined,
  ): Promise<Answer['jobs']> => {
    const own = jobs.filter((job) => job !== undefined && scope?.hasLane(job.lane) !== false)
    const hits = own.map(async (job) => {
      if (!job) return []
      const { fn, queue } = scheduler.registry.names.parse(job.lane)
      const standing = await scheduler.inspect.standing(job.lane, job.id)
      const state = stateOf(job, standing ?? { place: 'queue' })
      return [{ id: names.of(job), function: fn, queue, state, by }]
    })
    return (await Promise.all(hits)).flat()
  }

  return {
    async search({ query: { q }, scope }) {
      const latest = await view.get(scope)
      const [named, alike, batch, lanes, queues] = await Promise.all([
        names.find(q),
        uniques(q),
        scheduler.batches.state(q),
        latest.functions.get(),
        latest.queues().then((orders) => orders.get()),
      ])
      const byName = await hitsOf([named], 'name', scope)
      const byUnique = await hitsOf(alike, 'unique', scope)
      return {
        jobs: [...byName, ...byUnique.filter(({ id }) => byName.every((one) => one.id !== id))],
        functions: namesWith(
          lanes.map(({ fn }) => fn),
          q,
        ),
        queues: namesWith(
          queues.map(({ queue }) => queue),
          q,
        ),
        batch: batch ? q : null,
      }
    },
  } satisfies Partial<Handlers>
}

/** Some names that contain a text, the name itself first, then those that begin so. Names may come several times. */
function namesWith(all: readonly string[], part: string): string[] {
  const ranks: [same: Set<string>, begin: Set<string>, other: Set<string>] = [
    new Set(),
    new Set(),
    new Set(),
  ]
  for (const name of all) {
    const at = name.indexOf(part)
    if (at < 0) continue
    const rank = name === part ? ranks[0] : at === 0 ? ranks[1] : ranks[2]
    if (rank.size < maxHits) rank.add(name)
  }
  return ranks.flatMap((rank) => [...rank]).slice(0, maxHits)
}
