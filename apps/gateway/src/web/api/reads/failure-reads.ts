import type { Scheduler } from '@crossgear/core-scheduler'
import type { Static } from '@sinclair/typebox'
import type { Handlers } from '../api.ts'
import { failureBounds, type failures } from '../schemas/jobs.ts'
import { type FoundJob, scanBounds } from './job-scan.ts'
import { errorOf, failureKindOf } from './job-view.ts'
import type { HandlerParts } from '../handler-parts.ts'

type Group = Static<typeof failures>['groups'][number]

/** Failed jobs by what went wrong. */
export function failureReads({ scheduler, names, scan }: HandlerParts) {
  return {
    async listFailures({ query, scope }) {
      const { state = 'dead', cursor, ...place } = query
      const filter = { ...place, state, scope }
      const { found, lookedAt, cursor: next } = await scan.piece(filter, scanBounds.jobs, cursor)
      const groups = new Map<string, Group>()
      for (const one of found) {
        const kind = failureKindOf(one.job)
        const key = JSON.stringify(kind)
        const known = groups.get(key)
        const group = known ?? { ...kind, ...noJobs, functions: [], example: names.of(one.job) }
        if (!known) groups.set(key, group)
        count(group, one, scheduler)
      }
      return {
        groups: [...groups.values()].sort((one, other) => other.jobs - one.jobs),
        looked_at: lookedAt,
        cursor: next,
      }
    },
  } satisfies Partial<Handlers>
}

const noJobs = { jobs: 0, last_failed_at: null }

function count(group: Group, { job }: FoundJob, { registry }: Scheduler): void {
  const { fn } = registry.names.parse(job.lane)
  const { functions } = group
  group.jobs += 1
  if (functions.length < failureBounds.functions && !functions.includes(fn)) functions.push(fn)
  const ms = Date.parse(errorOf(job.failure)?.failed_at ?? '')
  if (Number.isNaN(ms) || ms <= Date.parse(group.last_failed_at ?? '')) return
  group.last_failed_at = new Date(ms).toISOString()
}
