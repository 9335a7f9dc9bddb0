import type { Throttle } from '@crossgear/core-scheduler'
import type { Static } from '@sinclair/typebox'
import type { FunctionLimit } from '../../../config/function-limits.ts'
import type { Handlers } from '../api.ts'
import { ApiError } from '../api-error.ts'
import { pageOf } from '../cursors.ts'
import { type functionEntry, maxEntries, type overview, type queueEntry } from '../schemas/lanes.ts'
import { type LaneFigures, queuedIn } from '../../../operations/metrics/store-snapshot.ts'
import { latelyOf } from './history-reads.ts'
import { LaneSums } from './lane-sums.ts'
import { waitsLonger } from './snapshot-view.ts'
import { queuePauseReason } from './waits/lane-reason.ts'
import { type Reason, shortName } from './waits/reason.ts'
import type { HandlerParts } from '../handler-parts.ts'

type FunctionView = Static<typeof functionEntry>
type QueueView = Static<typeof queueEntry>

/** Reads about whole functions and queues, from figures that all callers share. */
export function laneReads({ scheduler, view, config, node, version, waits }: HandlerParts) {
  const shown = (figures: LaneFigures, waitsFor: Reason | null): FunctionView => {
    const { fn, queue, counts } = figures
    const { lane, workers, openness } = counts
    const sums = LaneSums.of([figures])
    const isUnrouted = config().bridgeFaktory === 'routed' && openness === 'auto'
    return {
      function: fn,
      queue,
      lane,
      ...sums.standing(),
      workers,
      ...sums.totals(),
      openness: isUnrouted ? 'unrouted' : openness,
      is_paused: scheduler.queues.paused.has(queue),
      is_function_paused: scheduler.queues.holdsBack(lane),
      waits_for: waitsFor,
    }
  }
  const allShown = async (lanes: readonly LaneFigures[]): Promise<FunctionView[]> => {
    const reasons = await waits.ofLanes(lanes)
    return lanes.map((lane, at) => shown(lane, reasons[at] ?? null))
  }

  /** Some lanes together, and those with the most to do one by one. */
  const entriesOf = async (lanes: readonly LaneFigures[]) => {
    const load = ({ counts }: LaneFigures): number => queuedIn(counts) + counts.running
    const busiest = [...lanes].sort((one, other) => load(other) - load(one)).slice(0, maxEntries)
    const entries = await allShown(busiest)
    const oldest = lanes.reduce<LaneFigures | undefined>(
      (found, lane) => (waitsLonger(lane, found) ? lane : found),
      undefined,
    )
    const [reason = null] = oldest ? await waits.ofLanes([oldest]) : []
    return {
      sums: LaneSums.of(lanes),
      reason: reason ?? entries.find(({ waits_for: waitsFor }) => waitsFor)?.waits_for ?? null,
      // Of several lanes a sentence says which one it is about.
      oldest: lanes.length > 1 ? oldest : undefined,
      lists: { entries, entries_total: lanes.length },
    }
  }

  /** These are new sets after each change. */
  const pauses = () => [
    scheduler.queues.paused,
    scheduler.queues.pausedFunctions,
    scheduler.queues.pauseNotes,
    config(),
  ]

  /** Why jobs of a queue wait: its pause, or the reason of the lane whose jobs wait longest. */
  const queueReason = (queue: string, reason: Reason | null, oldest?: LaneFigures) => {
    if (scheduler.queues.paused.has(queue)) {
      return queuePauseReason({ name: queue, note: scheduler.queues.pauseOf('queue', queue) })
    }
    return reason && oldest
      ? { ...reason, text: `${shortName(oldest.fn)}: ${reason.text}` }
      : reason
  }

  const limitsOf = async (fn: string) => {
    const { maxWaiting, needsWorker, maxAgeMs } = scheduler.routes.get(fn) ?? {}
    const [limits = { high: 0, normal: 0, low: 0 }] = await scheduler.admin.limits([fn])
    return {
      ...limits,
      max_waiting: maxWaiting ?? null,
      without_workers: needsWorker ? ('refuse' as const) : ('accept' as const),
      max_age_seconds: maxAgeMs === undefined ? null : maxAgeMs / 1000,
    }
  }

  return {
    async getOverview({ scope }) {
      const latest = await view.get(scope)
      const { nodes } = latest.snapshot
      const { sums, functions, queues, busiest } = await latest.whole()
      return {
        at: latest.at,
        node,
        version,
        functions,
        queues: queues.size,
        nodes: Math.max(1, nodes.size),
        ...sums.standing(),
        ...sums.totals(),
        busiest: await allShown(busiest),
        paused_queues: [...scheduler.queues.paused]
          .filter((queue) => queues.has(queue) || scope?.has(queue) !== false)
          .sort(),
        paused_functions: [...scheduler.queues.pausedFunctions]
          .filter((fn) => scope?.hasFunction(fn) !== false)
          .sort(),
      } satisfies Static<typeof overview>
    },

    async listFunctions({ query, scope }) {
      const latest = await view.get(scope)
      return latest.answer(['functions', query], pauses(), async () => {
        const { contains = '' } = query
        const all = await latest.functions.get(query)
        const wanted = contains === '' ? all : all.filter(({ fn }) => fn.includes(contains))
        const { page, ...rest } = pageOf(wanted, query)
        return { at: latest.at, functions: await allShown(page), ...rest }
      })
    },

    async listQueues({ query, scope }) {
      const latest = await view.get(scope)
      return latest.answer(['queues', query], pauses(), async () => {
        const { contains = '' } = query
        const known = await (await latest.queues()).get(query)
        const { queues } = await latest.whole()
        // A queue that was paused before its first job, or under a wrong name, is seen as well.
        const paused = [...scheduler.queues.paused]
          .filter((queue) => !queues.has(queue) && scope?.has(queue) !== false)
          .sort()
        const all = [
          ...known,
          ...paused.map((queue) => ({ queue, functions: 0, sums: LaneSums.of([]) })),
        ]
        const wanted = contains === '' ? all : all.filter(({ queue }) => queue.includes(contains))
        const { page, ...rest } = pageOf(wanted, query)
        const oldest = page.map((entry) => ('oldest' in entry ? entry.oldest : undefined))
        const lanes = oldest.filter((lane) => lane !== undefined)
        const reasons = await waits.ofLanes(lanes)
        const views = page.map(({ queue, functions, sums }, at): QueueView => {
          const lane = oldest[at]
          const reason = lane ? (reasons[lanes.indexOf(lane)] ?? null) : null
          return {
            queue,
            functions,
            ...sums.standing(),
            is_paused: scheduler.queues.paused.has(queue),
            waits_for: queueReason(queue, reason, functions > 1 ? lane : undefined),
          }
        })
        return { queues: views, ...rest }
      })
    },

    async getFunction({ params, scope }) {
      const { function: fn } = params
      const latest = await view.get(scope)
      const own = latest.snapshot.lanes.filter((lane) => lane.fn === fn)
      if (own.length === 0) scope?.demandFunction(fn)
      if (own.length === 0) throw unknownFunction()
      const { sums, reason, lists } = await entriesOf(own)
      return {
        at: latest.at,
        function: fn,
        workers: sums.workers,
        limits: await limitsOf(fn),
        ...sums.standing(),
        ...sums.totals(),
        ...lists,
        waits_for: reason,
        limit: limitView(config().routes.get(fn)?.limit),
        ...(await latelyOf('f', fn, scheduler)),
      }
    },

    async getQueue({ params, scope }) {
      const { queue } = params
      const latest = await view.get(scope)
      const own = latest.snapshot.lanes.filter((lane) => lane.queue === queue)
      if (own.length === 0) scope?.demandQueue(queue)
      const isPaused = scheduler.queues.paused.has(queue)
      if (own.length === 0 && !isPaused) {
        throw new ApiError('unknown_queue', 'no job has come to such a queue')
      }
      const { sums, reason, oldest, lists } = await entriesOf(own)
      const throttle = config().throttles.get(queue)
      return {
        at: latest.at,
        queue,
        is_paused: isPaused,
        ...sums.standing(),
        ...sums.totals(),
        ...lists,
        waits_for: queueReason(queue, reason, oldest),
        throttle: throttle ? throttleView(queue, throttle) : null,
        ...(await latelyOf('q', queue, scheduler)),
      }
    },

    async getScale({ query, scope }) {
      const { function: fn, queue } = query
      const { lanes } = (await view.get(scope)).snapshot
      const own = lanes.filter((lane) => lane.fn === fn && (queue ?? lane.queue) === lane.queue)
      if (own.length === 0) scope?.demandFunction(fn)
      if (own.length === 0) throw unknownFunction()
      const { waiting, running, scheduled, retry, oldestSeconds, workers } = LaneSums.of(own)
      return {
        function: fn,
        waiting,
        running,
        scheduled: scheduled + retry,
        oldest_seconds: oldestSeconds,
        workers,
      }
    },

    listThrottles({ scope }) {
      const own = [...config().throttles].filter(([queue]) => scope?.has(queue) !== false)
      return Promise.resolve({
        throttles: own.map(([queue, throttle]) => throttleView(queue, throttle)),
      })
    },
  } satisfies Partial<Handlers>
}

function unknownFunction(): ApiError {
  return new ApiError('unknown_function', 'no such function has had a job or a worker')
}

function throttleView(queue: string, { perWorker, timeoutMs, ...limit }: Throttle) {
  return {
    queue,
    per_worker: perWorker ?? null,
    ...shownLimit(limit),
    timeout_seconds: timeoutMs === undefined ? null : timeoutMs / 1000,
  }
}

function limitView(limit: FunctionLimit | undefined) {
  return limit ? { ...shownLimit(limit), per: limit.per ?? null } : null
}

function shownLimit({ concurrency, rate }: Throttle) {
  return {
    concurrency: concurrency ?? null,
    rate_jobs: rate?.jobs ?? null,
    rate_seconds: rate ? rate.perMs / 1000 : null,
  }
}
