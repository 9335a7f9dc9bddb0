import type { JobState, Scheduler } from '@crossgear/core-scheduler'
import { grouped } from '@crossgear/migration'
import type { Static } from '@sinclair/typebox'
import type { FleetPage, FleetWorker } from '../../../operations/fleet/fleet.ts'
import type { Answers, HeldView, WorkerFilter } from '../../../operations/fleet/node-answers.ts'
import type { Handlers } from '../api.ts'
import { ApiError } from '../api-error.ts'
import { cursorOf, numbersOf } from '../cursors.ts'
import { pageSizes } from '../schemas/common.ts'
import {
  type jobWorker,
  maxSorted,
  type oneWorker,
  workerPage,
  type workers,
} from '../schemas/fleet.ts'
import type { Scope } from '../scope.ts'
import { progressOf } from './job-view.ts'
import type { HandlerParts } from '../handler-parts.ts'

type WorkerAnswer = Omit<Static<typeof oneWorker>, 'cursor'>

/** Reads about the workers of all gateways and their jobs. */
export function workerReads(parts: HandlerParts) {
  const { fleet } = parts
  return {
    async listWorkers({ query, scope }) {
      const { limit = pageSizes.usual, cursor, node, sort, order: way = 'desc', ...filter } = query
      const [from = 0] = cursor === undefined ? [] : numbersOf(cursor, 1)
      const order = sort && { by: sort, order: way }
      // Each gateway gives all that come before the page, too.
      const end = order ? maxSorted : Infinity
      const count = Math.max(0, Math.min(limit, end - from))
      const jobs = count > workerPage.longPage ? 1 : workerPage.jobs
      const question = { filter: filter as WorkerFilter, from, count, jobsFrom: 0, jobs, order }
      const page = await fleet.workers(question, node === undefined ? undefined : [node])
      const next = from + page.workers.length
      const hasMore = page.workers.length > 0 && next < Math.min(end, page.total)
      return {
        ...sumsOf(page.answers),
        workers: await shownWorkers(page.workers, parts, scope),
        total: page.total,
        silent_nodes: [...page.silent],
        cursor: hasMore ? cursorOf([next]) : null,
      }
    },

    async getWorker({ params, query, scope }) {
      const { limit: jobs = pageSizes.usual, cursor } = query
      const [jobsFrom = 0] = cursor === undefined ? [] : numbersOf(cursor, 1)
      const [node = '', name] = params.worker.split(':')
      const question = { filter: { name }, from: 0, count: 1, jobsFrom, jobs }
      const page = await fleet.workers(question, [node])
      const [view] = await shownWorkers(page.workers, parts, scope)
      if (!view) throw unknownWorker(page)
      const next = jobsFrom + (page.workers[0]?.worker.jobs.length ?? 0)
      const hasMore = next > jobsFrom && next < view.jobs_total
      return { ...view, cursor: hasMore ? cursorOf([next]) : null }
    },
  } satisfies Partial<Handlers>
}

function unknownWorker({ silent }: FleetPage): ApiError {
  const words =
    silent.length > 0
      ? 'nothing is known of the worker: its gateway does not answer'
      : 'there is no such worker: it has left'
  return new ApiError('unknown_worker', words)
}

/** The same worker as a job names it. */
export function identityOf({ node, worker }: FleetWorker): Static<typeof jobWorker> {
  const { name, door, calledItself, wid, address, hostname, pid } = worker
  return {
    worker: `${node}:${name}`,
    node,
    door,
    name: calledItself,
    wid: wid ?? null,
    address: address ?? null,
    hostname: hostname ?? null,
    pid: pid ?? null,
  }
}

/** Workers with their jobs as the store has them now: one that has ended, or is not in the scope, is left out. */
async function shownWorkers(
  found: readonly FleetWorker[],
  parts: HandlerParts,
  scope: Scope | undefined,
): Promise<WorkerAnswer[]> {
  const held = found.flatMap(({ worker }) => worker.jobs)
  const jobs = await jobsOf(held, parts.scheduler)
  const nowMs = parts.scheduler.storeNowMs()
  return found.map((one) => {
    const { labels, state, functions, functionCount, queues, rssKb } = one.worker
    const { connections, beatAgoMs, jobCount } = one.worker
    return {
      ...identityOf(one),
      labels: [...labels],
      state,
      functions: [...functions],
      functions_total: functionCount,
      queues: [...queues],
      rss_kb: rssKb,
      connections,
      jobs_total: jobCount,
      seconds_since_beat: beatAgoMs === undefined ? null : Math.max(0, beatAgoMs / 1000),
      jobs: one.worker.jobs.flatMap((ref) => {
        const job = jobs.get(ref.token)
        if (!job || scope?.hasLane(job.lane) === false) return []
        const { fn, queue } = parts.scheduler.registry.names.parse(job.lane)
        const since = new Date(nowMs - ref.forMs).toISOString()
        return [{ id: parts.names.of(job), function: fn, queue, since, progress: progressOf(job) }]
      }),
    }
  })
}

/** Jobs that are still held, by token. */
async function jobsOf(
  held: readonly HeldView[],
  scheduler: Scheduler,
): Promise<ReadonlyMap<string, JobState>> {
  const jobs = new Map<string, JobState>()
  for (const [lane, refs] of grouped(held, (ref) => ref.lane)) {
    const ids = refs.map(({ id }) => id)
    for (const job of await scheduler.jobs.lookAll(lane, ids)) {
      if (job?.token !== undefined) jobs.set(job.token, job)
    }
  }
  return jobs
}

/** The sums of all nodes, by name. */
function sumsOf(
  answers: ReadonlyMap<string, Answers['workers']>,
): Pick<Static<typeof workers>, 'doors' | 'functions' | 'queues'> {
  const sums = [...answers.values()].flatMap(({ sums }) => sums ?? [])
  const doors = joined(
    sums.flatMap((node) => node.doors),
    ({ door }) => door,
    (one, other) => ({
      door: one.door,
      clients: one.clients + other.clients,
      bytesIn: one.bytesIn + other.bytesIn,
      bytesOut: one.bytesOut + other.bytesOut,
    }),
  )
  const functions = sums.flatMap((node) => node.functions)
  const queues = sums.flatMap((node) => node.queues)
  return {
    doors: doors.map(({ door, clients, bytesIn, bytesOut }) => {
      return { door, clients, bytes_in: bytesIn, bytes_out: bytesOut }
    }),
    functions: joined(functions, ({ function: fn, door }) => `${door} ${fn}`, addHands),
    queues: joined(queues, ({ queue }) => queue, addHands),
  }
}

interface Counted {
  readonly idle: number
  readonly busy: number
}

function addHands<Row extends Counted>(one: Row, other: Row): Row {
  return { ...one, idle: one.idle + other.idle, busy: one.busy + other.busy }
}

/** Rows with one key are added up. */
function joined<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  add: (one: Row, other: Row) => Row,
): Row[] {
  const sums = new Map<string, Row>()
  for (const row of rows) {
    const known = sums.get(keyOf(row))
    sums.set(keyOf(row), known ? add(known, row) : row)
  }
  return [...sums.values()]
}
