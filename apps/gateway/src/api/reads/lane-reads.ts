import type { LaneCounts, Scheduler } from '@crossgear/core-scheduler'
import type { Static } from '@sinclair/typebox'
import type { Cached } from '../../ops/metrics/cached.ts'
import { type LaneFigures, queuedIn, type StoreSnapshot } from '../../ops/metrics/store-snapshot.ts'
import type { Config } from '../../config/load-config.ts'
import type { Handlers } from '../api.ts'
import { ApiError } from '../api-error.ts'
import { pageOf } from '../cursors.ts'
import type { functionEntry, overview, queueEntry } from '../schemas/lanes.ts'

type FunctionView = Static<typeof functionEntry>
type QueueView = Static<typeof queueEntry>

interface Parts {
  readonly scheduler: Scheduler
  /** Figures of all lanes, a second old at most. */
  readonly snapshot: Cached<StoreSnapshot>
  /** As they are now. */
  readonly throttles: () => Config['throttles']
  readonly bridgeFaktory: Config['bridgeFaktory']
  readonly node: string
  readonly version: string
}

/** Functions that the overview names. */
const busiestShown = 10

/** Reads about functions and queues as wholes, from figures that all who ask share. */
export function laneReads({
  scheduler,
  snapshot,
  throttles,
  bridgeFaktory,
  node,
  version,
}: Parts): Pick<
  Handlers,
  'getOverview' | 'listFunctions' | 'listQueues' | 'getScale' | 'listThrottles'
> {
  const shown = (lane: LaneFigures): FunctionView => ({
    ...functionView(lane),
    openness:
      bridgeFaktory === 'routed' && lane.counts.openness === 'auto'
        ? 'unrouted'
        : lane.counts.openness,
    is_paused: scheduler.queues.paused.has(lane.queue),
    is_function_paused: scheduler.queues.holdsBack(lane.counts.lane),
  })

  return {
    async getOverview() {
      const { atMs, lanes, nodes } = await snapshot.get()
      const load = ({ counts }: LaneFigures): number => queuedIn(counts) + counts.running
      const busiest = lanes.filter((lane) => load(lane) > 0).sort((a, b) => load(b) - load(a))
      return {
        ...{ at: new Date(atMs).toISOString(), node, version },
        functions: new Set(lanes.map(({ fn }) => fn)).size,
        queues: new Set(lanes.map(({ queue }) => queue)).size,
        nodes: Math.max(1, nodes.size),
        ...standingOf(lanes),
        ...totalsOf(lanes.map(({ counts }) => counts)),
        busiest: busiest.slice(0, busiestShown).map((lane) => shown(lane)),
        paused_queues: [...scheduler.queues.paused].sort(),
        paused_functions: [...scheduler.queues.pausedFunctions].sort(),
      } satisfies Static<typeof overview>
    },

    async listFunctions({ query }) {
      const { contains = '' } = query
      const { atMs, lanes } = await snapshot.get()
      const wanted = lanes.filter(({ fn }) => fn.includes(contains)).sort(byName)
      const { page, ...rest } = pageOf(inOrder(wanted, laneFigures, query), query)
      const at = new Date(atMs).toISOString()
      return { at, functions: page.map((lane) => shown(lane)), ...rest }
    },

    async listQueues({ query }) {
      const { contains = '' } = query
      const { lanes } = await snapshot.get()
      const byQueue = new Map<string, LaneFigures[]>()
      for (const lane of lanes) {
        if (!lane.queue.includes(contains)) continue
        const others = byQueue.get(lane.queue)
        if (others) others.push(lane)
        else byQueue.set(lane.queue, [lane])
      }
      const views = [...byQueue.keys()].sort().map((queue): QueueView => {
        const own = byQueue.get(queue) ?? []
        const isPaused = scheduler.queues.paused.has(queue)
        return { queue, functions: own.length, ...standingOf(own), is_paused: isPaused }
      })
      const { page, ...rest } = pageOf(inOrder(views, queueFigures, query), query)
      return { queues: [...page], ...rest }
    },

    async getScale({ query }) {
      const { function: fn, queue } = query
      const { lanes } = await snapshot.get()
      const own = lanes.filter((lane) => lane.fn === fn && (queue ?? lane.queue) === lane.queue)
      if (own.length === 0) {
        throw new ApiError('unknown_function', 'no such function has had a job or a worker')
      }
      const { waiting, running, scheduled, retry, oldest_waiting_seconds } = standingOf(own)
      return {
        ...{ function: fn, waiting, running, scheduled: scheduled + retry },
        oldest_seconds: oldest_waiting_seconds,
        workers: own.reduce((sum, { counts }) => sum + counts.workers, 0),
      }
    },

    listThrottles() {
      return Promise.resolve({
        throttles: [...throttles()].map(([queue, throttle]) => {
          const { concurrency, perWorker, timeoutMs, rate } = throttle
          return {
            ...{ queue, concurrency: concurrency ?? null, per_worker: perWorker ?? null },
            timeout_seconds: timeoutMs === undefined ? null : timeoutMs / 1000,
            rate_jobs: rate?.jobs ?? null,
            rate_seconds: rate ? rate.perMs / 1000 : null,
          }
        }),
      })
    },
  }
}

function byName(one: LaneFigures, other: LaneFigures): number {
  return one.fn < other.fn ? -1 : one.fn > other.fn ? 1 : one.queue < other.queue ? -1 : 1
}

type SortWord = 'waiting' | 'running' | 'scheduled' | 'retry' | 'dead' | 'oldest'
type FigureTable<Entry, Word extends string> = Readonly<Record<Word, (entry: Entry) => number>>

/** By what functions may be sorted, besides their names. */
const laneFigures: FigureTable<LaneFigures, SortWord | 'workers'> = {
  waiting: ({ counts }) => queuedIn(counts),
  running: ({ counts }) => counts.running,
  scheduled: ({ counts }) => counts.scheduled - counts.retrying,
  retry: ({ counts }) => counts.retrying,
  dead: ({ counts }) => counts.dead,
  oldest: ({ oldestSeconds }) => oldestSeconds,
  workers: ({ counts }) => counts.workers,
}

/** The same for queues. */
const queueFigures: FigureTable<QueueView, SortWord> = {
  waiting: ({ waiting }) => waiting,
  running: ({ running }) => running,
  scheduled: ({ scheduled }) => scheduled,
  retry: ({ retry }) => retry,
  dead: ({ dead }) => dead,
  oldest: (queue) => queue.oldest_waiting_seconds,
}

interface Order<Word extends string> {
  readonly sort?: Word | 'name'
  readonly order?: 'asc' | 'desc'
}

/** Entries that stand by name, in another order; those with equal figures stay by name. */
function inOrder<Entry, Word extends string>(
  byNames: readonly Entry[],
  figures: FigureTable<Entry, Word>,
  { sort = 'name', order = 'asc' }: Order<Word>,
): readonly Entry[] {
  if (sort === 'name') return order === 'asc' ? byNames : byNames.toReversed()
  const figureOf = figures[sort]
  const sign = order === 'asc' ? 1 : -1
  return byNames
    .map((entry) => ({ entry, figure: figureOf(entry) * sign }))
    .sort((one, other) => one.figure - other.figure)
    .map(({ entry }) => entry)
}

/** The parts of an entry besides its figures. */
type Standing = Pick<FunctionView, 'openness' | 'is_paused' | 'is_function_paused'>

function functionView(lane: LaneFigures): Omit<FunctionView, keyof Standing> {
  const { fn, queue, counts } = lane
  return {
    ...{ function: fn, queue, lane: counts.lane },
    ...standingOf([lane]),
    workers: counts.workers,
    ...totalsOf([counts]),
  }
}

function standingOf(lanes: readonly LaneFigures[]) {
  const sum = (of: (counts: LaneCounts) => number): number =>
    lanes.reduce((total, { counts }) => total + of(counts), 0)
  return {
    waiting: sum(queuedIn),
    running: sum(({ running }) => running),
    // A job that failed may leave while they are counted.
    scheduled: Math.max(
      0,
      sum(({ scheduled, retrying }) => scheduled - retrying),
    ),
    retry: sum(({ retrying }) => retrying),
    dead: sum(({ dead }) => dead),
    oldest_waiting_seconds: lanes.reduce((most, lane) => Math.max(most, lane.oldestSeconds), 0),
  }
}

function totalsOf(all: readonly LaneCounts[]) {
  const sum = (of: (counts: LaneCounts) => number): number =>
    all.reduce((total, counts) => total + of(counts), 0)
  return {
    submitted_total: sum(({ submitted }) => submitted),
    completed_total: sum(({ completed }) => completed),
    failed_total: sum(({ failed }) => failed),
    retried_total: sum(({ retried }) => retried),
    expired_total: sum(({ expired }) => expired),
  }
}
