import { bucketStarts, historySpans, type Scheduler } from '@crossgear/core-scheduler'
import {
  historyCounters,
  type HistoryCounter,
  type HistoryTimes,
} from '../../ops/history/job-history.ts'
import { percentileSeconds } from '../../ops/history/time-buckets.ts'
import type { Handlers } from '../api.ts'

/** Buckets of each span of the API. */
const bucketsOf = { hour: 'minute', day: 'hour' } as const

type Sums = ReadonlyMap<string, number>

/** Events of the last hour or day, at all nodes. */
export function historyReads(scheduler: Scheduler): Pick<Handlers, 'getHistory'> {
  return {
    async getHistory({ query }) {
      const { span = 'hour' } = query
      const kind = bucketsOf[span]
      const nowMs = scheduler.storeNowMs()
      const known = await scheduler.history.read(kind, nowMs)
      const sumsOf = new Map(known.map(({ startMs, sums }) => [startMs, sums]))
      return {
        span,
        seconds: historySpans[kind].ms / 1000,
        buckets: bucketStarts(kind, nowMs).map((startMs) => {
          const sums: Sums = sumsOf.get(startMs) ?? new Map()
          return {
            start: new Date(startMs).toISOString(),
            ...countersOf(sums),
            wait_seconds: percentilesOf(sums, 'wait'),
            run_seconds: percentilesOf(sums, 'run'),
          }
        }),
      }
    },
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
