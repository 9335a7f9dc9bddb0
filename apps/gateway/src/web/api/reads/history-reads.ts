import {
  bucketStarts,
  type HistoryBucket,
  historySpans,
  type Scheduler,
} from '@crossgear/core-scheduler'
import {
  historyCounters,
  type HistoryCounter,
  type HistoryTimes,
} from '../../../operations/history/counts.ts'
import { historyName } from '../../../operations/history/named-counts.ts'
import { percentileSeconds } from '../../../operations/history/time-buckets.ts'
import type { Static } from '@sinclair/typebox'
import type { Handlers } from '../api.ts'
import { ApiError } from '../api-error.ts'
import type { lately } from '../schemas/history.ts'
import type { HandlerParts } from '../handler-parts.ts'

/** Buckets of each span of the API. */
const bucketsOf = { hour: 'minute', day: 'hour' } as const

type Sums = ReadonlyMap<string, number>

/** Events of the last hour or day, at all nodes: of all jobs, or of one function or queue. */
export function historyReads({ scheduler }: HandlerParts) {
  return {
    async getHistory({ query }) {
      const { span = 'hour', function: fn, queue } = query
      if (fn !== undefined && queue !== undefined) {
        throw new ApiError('invalid_request', 'give either a function or a queue')
      }
      const kind = bucketsOf[span]
      const nowMs = scheduler.storeNowMs()
      const known = await scheduler.history.read(kind, nowMs, thingOf(fn, queue))
      const sumsOf = new Map(known.map(({ startMs, sums }) => [startMs, sums]))
      return {
        span,
        seconds: historySpans[kind].ms / 1000,
        buckets: bucketStarts(kind, nowMs).map((startMs) => {
          const sums: Sums = sumsOf.get(startMs) ?? new Map()
          return {
            start: new Date(startMs).toISOString(),
            ...eventsOf(sums),
          }
        }),
      }
    },
  } satisfies Partial<Handlers>
}

function thingOf(fn: string | undefined, queue: string | undefined): string | undefined {
  if (fn !== undefined) return historyName('f', fn)
  return queue === undefined ? undefined : historyName('q', queue)
}

/** Whole minutes whose means are the rates of now. */
const rateMinutes = 5

/** The last hour of a function (`f`) or a queue (`q`). */
export async function latelyOf(
  kind: 'f' | 'q',
  name: string,
  scheduler: Scheduler,
): Promise<Static<typeof lately>> {
  const nowMs = scheduler.storeNowMs()
  const minutes = await scheduler.history.read('minute', nowMs, historyName(kind, name))
  const starts = bucketStarts('minute', nowMs).slice(-1 - rateMinutes, -1)
  const recent = added(minutes.filter(({ startMs }) => starts.includes(startMs)))
  const perSecond = (counter: HistoryCounter): number =>
    (recent.get(counter) ?? 0) / ((rateMinutes * historySpans.minute.ms) / 1000)
  return {
    last_hour: eventsOf(added(minutes)),
    per_second: {
      submitted: perSecond('submitted'),
      completed: perSecond('completed'),
      failed: perSecond('failed') + perSecond('died'),
    },
  }
}

function added(buckets: readonly HistoryBucket[]): Sums {
  const all = new Map<string, number>()
  for (const { sums } of buckets) {
    for (const [name, sum] of sums) all.set(name, (all.get(name) ?? 0) + sum)
  }
  return all
}

function eventsOf(sums: Sums) {
  return {
    ...countersOf(sums),
    wait_seconds: percentilesOf(sums, 'wait'),
    run_seconds: percentilesOf(sums, 'run'),
  }
}

function countersOf(sums: Sums): Record<HistoryCounter, number> {
  const entries = historyCounters.map((counter) => [counter, sums.get(counter) ?? 0] as const)
  return Object.fromEntries(entries) as Record<HistoryCounter, number>
}

function percentilesOf(sums: Sums, times: HistoryTimes) {
  const start = `${times}:`
  const counts = new Map(
    [...sums]
      .filter(([name]) => name.startsWith(start))
      .map(([name, count]) => [Number(name.slice(start.length)), count]),
  )
  const at = (share: number) => percentileSeconds(counts, share)
  const [p50, p95, p99] = [at(0.5), at(0.95), at(0.99)]
  return p50 === undefined || p95 === undefined || p99 === undefined ? null : { p50, p95, p99 }
}
