import type { Static } from '@sinclair/typebox'
import type { Handlers } from '../../api.ts'
import { pageOf } from '../../cursors.ts'
import type { HandlerParts } from '../../handler-parts.ts'
import { isoTime } from '../../schemas/common.ts'
import type { failureQuery, FailureSort, failures } from '../../schemas/failures.ts'
import { failureBounds } from '../../schemas/jobs.ts'
import type { Scope } from '../../scope.ts'
import { FailureIndex, type Looked } from './failure-index.ts'
import { hourMs, hoursShown, keyOf, type LaneGroup } from './lane-failures.ts'

type Query = Static<typeof failureQuery>
type Group = Static<typeof failures>['groups'][number]

/** With more lanes, only those are looked at that had failed jobs a second ago. */
const lanesLookedAt = 512

/** A group over all lanes. */
interface Sum extends LaneGroup {
  readonly functions: Set<string>
  exampleLane: string
}

/** Failed jobs by what went wrong. */
export function failureReads({ scheduler, names, scan, view }: HandlerParts) {
  const { registry } = scheduler
  const index = new FailureIndex(scheduler)

  const lanesOf = async (
    asked: { readonly function?: string; readonly queue?: string },
    scope: Scope | undefined,
  ): Promise<readonly string[]> => {
    const lanes = scan.lanesOf(asked, scope)
    if (lanes.length <= lanesLookedAt) return lanes
    const { snapshot } = await view.get(scope)
    const failed = snapshot.lanes.filter(({ counts }) => counts.dead + counts.retrying > 0)
    const some = new Set(failed.map(({ counts }) => counts.lane))
    return lanes.filter((lane) => some.has(lane))
  }

  const shown = (sum: Sum, nowMs: number): Group => {
    const { type, line, jobs, functions, firstMs, lastMs, exampleLane: lane, exampleId: id } = sum
    const thisHour = Math.floor(nowMs / hourMs)
    const hours = Array.from({ length: hoursShown }, (_, at) => thisHour - hoursShown + 1 + at)
    return {
      type,
      line,
      jobs,
      functions: [...functions].slice(0, failureBounds.functions),
      functions_total: functions.size,
      first_failed_at: isoTime(firstMs),
      last_failed_at: isoTime(lastMs),
      by_hour: hours.map((hour) => sum.byHour.get(hour) ?? 0),
      example: names.of({ lane, id }),
    }
  }

  const listed = async (query: Query, scope: Scope | undefined) => {
    const { state = 'dead', sort = 'jobs', order = 'desc', limit, cursor, ...place } = query
    const set = state === 'dead' ? 'dead' : 'retries'
    const looked = await index.look(set, await lanesOf(place, scope))
    const nowMs = scheduler.storeNowMs()
    const sums = summed(looked, nowMs, (lane) => registry.names.parse(lane).fn)
    const sign = order === 'asc' ? 1 : -1
    const figure = figures[sort]
    const all = sums.sort(
      (one, other) => sign * (figure(one) - figure(other)) || other.jobs - one.jobs,
    )
    const {
      page,
      total,
      cursor: next,
    } = pageOf(all, {
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
    })
    const summaries = looked.lanes.map(({ failures: of }) => of.summary(nowMs))
    return {
      groups: page.map((sum) => shown(sum, nowMs)),
      groups_total: total,
      jobs: looked.jobs,
      counted: summaries.reduce((sum, { counted }) => sum + counted, 0),
      ungrouped: summaries.reduce((sum, { ungrouped }) => sum + ungrouped, 0),
      is_current: looked.isCurrent,
      looked_at: looked.lookedAt,
      cursor: next,
    }
  }

  /** Answers so far that are not the whole, behind which another call reads on. */
  let parts = 0
  return {
    async listFailures({ query, scope }) {
      const latest = await view.get(scope)
      return latest.answer(['failures', query], [view.changes, parts], async () => {
        const answer = await listed(query, scope)
        if (!answer.is_current) parts += 1
        return answer
      })
    },
  } satisfies Partial<Handlers>
}

const figures: Readonly<Record<FailureSort, (sum: Sum) => number>> = {
  jobs: ({ jobs }) => jobs,
  first_failed: ({ firstMs }) => firstMs,
  last_failed: ({ lastMs }) => lastMs,
}

function summed(looked: Looked, nowMs: number, fnOf: (lane: string) => string): Sum[] {
  const sums = new Map<string, Sum>()
  for (const { lane, failures: of } of looked.lanes) {
    for (const group of of.summary(nowMs).groups) {
      const key = keyOf(group)
      const known = sums.get(key)
      if (known) add(known, group, lane)
      const sum = known ?? {
        ...group,
        byHour: new Map(group.byHour),
        functions: new Set<string>(),
        exampleLane: lane,
      }
      sum.functions.add(fnOf(lane))
      sums.set(key, sum)
    }
  }
  return [...sums.values()]
}

function add(sum: Sum, group: LaneGroup, lane: string): void {
  sum.jobs += group.jobs
  if (group.lastMs > sum.lastMs) {
    sum.exampleLane = lane
    sum.exampleId = group.exampleId
  }
  sum.firstMs = Math.min(sum.firstMs, group.firstMs)
  sum.lastMs = Math.max(sum.lastMs, group.lastMs)
  for (const [hour, jobs] of group.byHour) sum.byHour.set(hour, (sum.byHour.get(hour) ?? 0) + jobs)
}
