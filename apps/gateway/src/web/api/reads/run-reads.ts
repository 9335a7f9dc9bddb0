import type { JobRef, JobState, Scheduler } from '@crossgear/core-scheduler'
import { type StoredRun, storedRun } from '../../../operations/history/latest-runs.ts'
import { ApiError } from '../api-error.ts'
import type { Handlers } from '../api.ts'
import type { HandlerParts } from '../handler-parts.ts'
import { isoTime } from '../schemas/common.ts'
import { stateOf } from './job-view.ts'

type State = ReturnType<typeof stateOf>

/** The last runs of a function, the newest first. */
export async function lastRuns(
  fn: string,
  { history }: Pick<Scheduler, 'history'>,
): Promise<readonly StoredRun[]> {
  const texts = await history.runs(fn)
  const runs = texts.map((text) => storedRun(text)).filter((run) => run !== undefined)
  return runs.sort((one, other) => other.endedMs - one.endedMs)
}

/** The last runs of functions, and of the jobs that are still there. */
export function runReads({ scheduler, names, cron }: HandlerParts) {
  const { registry, inspect, jobs } = scheduler

  /** States of the jobs that are still there, by lane and id. */
  const statesOf = async (runs: readonly JobRef[]): Promise<ReadonlyMap<string, State>> => {
    const states = new Map<string, State>()
    for (const lane of new Set(runs.map((run) => run.lane))) {
      const ids = [...new Set(runs.filter((run) => run.lane === lane).map(({ id }) => id))]
      const found = await jobs.lookAll(lane, ids)
      const there = found.filter((job): job is JobState => job !== undefined)
      for (const job of there) {
        const standing = await inspect.standing(lane, job.id)
        if (standing) states.set(keyOf(job), stateOf(job, standing))
      }
    }
    return states
  }

  return {
    async listRuns({ params, scope }) {
      const { function: fn } = params
      const all = await lastRuns(fn, scheduler)
      const own = scope ? all.filter(({ lane }) => scope.hasLane(lane)) : all
      if (own.length === 0) scope?.demandFunction(fn)
      const states = await statesOf(own)
      return {
        runs: own.map((run) => {
          const { lane, id, end, by, endedMs, runMs, type, line } = run
          return {
            job: names.of({ lane, id }),
            state: states.get(keyOf(run)) ?? null,
            queue: registry.names.parse(lane).queue,
            end,
            by,
            started_at: runMs === undefined ? null : isoTime(endedMs - runMs),
            ended_at: isoTime(endedMs),
            run_seconds: runMs === undefined ? null : runMs / 1000,
            error_type: type ?? null,
            error_line: line ?? null,
          }
        }),
      }
    },

    async listCronRuns({ query, scope }) {
      const { entry: name } = query
      const views = await cron.list()
      const entry = views.find((view) => view.entry.name === name)?.entry
      if (!entry) throw new ApiError('not_found', 'there is no such cron entry')
      const lane = cron.laneOf(entry)
      if (scope?.hasLane(lane) === false) throw scope.refusal('the cron entry')
      const runs = await cron.runs(name)
      const states = await statesOf(runs)
      const ended = new Map<string, StoredRun>()
      for (const fn of new Set(runs.map((run) => registry.names.parse(run.lane).fn))) {
        for (const run of (await lastRuns(fn, scheduler)).toReversed()) ended.set(keyOf(run), run)
      }
      return {
        runs: runs.map((run) => {
          const last = ended.get(keyOf(run))
          const state = states.get(keyOf(run)) ?? null
          return {
            at: isoTime(run.atMs),
            is_by_hand: run.isByHand === true,
            job: names.of(run),
            state,
            end: last?.end ?? null,
            ended_at: isoTime(last?.endedMs),
            run_seconds: last?.runMs === undefined ? null : last.runMs / 1000,
          }
        }),
      }
    },
  } satisfies Partial<Handlers>
}

function keyOf({ lane, id }: { readonly lane: string; readonly id: number }): string {
  return `${id} ${lane}`
}
