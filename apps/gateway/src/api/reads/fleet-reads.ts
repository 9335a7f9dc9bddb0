import type { BatchState, Clock, Scheduler } from '@crossgear/core-scheduler'
import type { MigrationNotes } from '@crossgear/redis-store'
import type { FaktoryDoor } from '../../faktory/faktory-door.ts'
import type { Worker } from '../../faktory/workers.ts'
import type { GearmanDoor } from '../../gearman/gearman-door.ts'
import type { Door } from '../../net/door.ts'
import { notedFields } from '../../ops/metrics/figures/migration-figures.ts'
import type { Cron } from '../../ops/cron/cron.ts'
import type { Handlers } from '../api.ts'
import { ApiError } from '../api-error.ts'
import { cursorOf, numbersOf, pageOf } from '../cursors.ts'
import { isoTime, pageSizes } from '../schemas/common.ts'

/** Entries of a list that has no pages. */
const mostListed = 1_000
/** Functions of one connection that are named. */
const mostFunctions = 100

/** Fields of a migration in the list. */
const migrationFields = ['mode', ...notedFields] as const

export interface FleetParts {
  readonly scheduler: Scheduler
  readonly doors: readonly Door[]
  /** Absent where the door is off. */
  readonly gearman: GearmanDoor | undefined
  readonly faktory: FaktoryDoor | undefined
  readonly cron: Cron
  readonly clock: Clock
  readonly node: string
  readonly migrations: Pick<MigrationNotes, 'latest' | 'progress'>
}

/** Reads about workers, nodes and what runs beside jobs. */
export function fleetReads({
  scheduler,
  doors,
  gearman,
  faktory,
  cron,
  clock,
  node,
  migrations,
}: FleetParts): Pick<
  Handlers,
  | 'listWorkers'
  | 'listConnections'
  | 'listNodes'
  | 'listCron'
  | 'listBatches'
  | 'getBatch'
  | 'listMigrations'
  | 'getMigration'
> {
  return {
    listWorkers() {
      const census = doors.map((door) => ({ door: door.name, ...door.census() }))
      const all = [...(faktory?.workers.all() ?? [])]
      const functions = census.flatMap(({ door, byFunction }) =>
        [...byFunction].map(([fn, hands]) => ({ function: fn, door, ...hands })),
      )
      const queues = census.flatMap(({ byQueue }) =>
        [...byQueue].map(([queue, hands]) => ({ queue, ...hands })),
      )
      return Promise.resolve({
        doors: census.map(({ door, clients, bytesIn, bytesOut }) => {
          return { door, clients, bytes_in: bytesIn, bytes_out: bytesOut }
        }),
        functions: functions.slice(0, mostListed),
        queues: queues.slice(0, mostListed),
        consumers: all.slice(0, mostListed).map((worker) => consumerView(worker, clock.nowMs())),
        consumers_total: all.length,
      })
    },

    listConnections({ query }) {
      const { page, ...rest } = pageOf(gearman?.connections() ?? [], query)
      const connections = page.map(({ address, clientId, functions }) => ({
        ...{ door: 'gearman', address, client_id: clientId },
        functions: functions.slice(0, mostFunctions),
        functions_total: functions.length,
      }))
      return Promise.resolve({ connections, ...rest })
    },

    listNodes() {
      const nowMs = scheduler.storeNowMs()
      const known = new Map([[node, nowMs], ...scheduler.nodes])
      return Promise.resolve({
        nodes: [...known].slice(0, mostListed).map(([name, lastMs]) => ({
          node: name,
          last_beat_seconds: Math.max(0, nowMs - lastMs) / 1000,
          is_this: name === node,
        })),
      })
    },

    async listCron() {
      const views = await cron.list()
      return {
        cron: views.map(({ entry, source, isPaused, lastMs, nextMs }) => {
          const { name, schedule, timezone, job } = entry
          const times = { last_run: isoTime(lastMs), next_run: isoTime(nextMs) }
          return { name, source, is_paused: isPaused, schedule, timezone, job, ...times }
        }),
      }
    },

    async listBatches({ query }) {
      const { limit = pageSizes.usual, cursor } = query
      const [createdAtMs = 0, passed = 0] = cursor === undefined ? [] : numbersOf(cursor, 2)
      const from = cursor === undefined ? undefined : { createdAtMs, passed }
      const { batches, next } = await scheduler.batches.list(from, limit)
      return {
        batches: batches.map(batchView),
        cursor: next ? cursorOf([next.createdAtMs, next.passed]) : null,
      }
    },

    async getBatch({ params }) {
      const state = await scheduler.batches.state(params.batch)
      if (!state) throw new ApiError('unknown_batch', 'there is no such batch, or no more')
      return batchView(state)
    },

    async listMigrations() {
      const latest = await migrations.latest(migrationFields)
      return {
        migrations: latest.map(({ name, ageSeconds, fields }) => {
          return {
            migration: name,
            noted_seconds_ago: Math.max(0, ageSeconds),
            fields: { ...fields },
          }
        }),
      }
    },

    async getMigration({ params }) {
      const fields = await migrations.progress(params.migration)
      if (Object.keys(fields).length === 0) {
        throw new ApiError('not_found', 'no such migration has run in the last 30 days')
      }
      return { migration: params.migration, fields }
    },
  }
}

function batchView({ bid, parent, createdAtMs, ...rest }: BatchState) {
  return { batch: bid, parent: parent ?? null, created_at: isoTime(createdAtMs), ...rest }
}

function consumerView(
  { hello, state, rssKb, held, connections, lastBeatMs, queues }: Worker,
  nowMs: number,
) {
  const { wid = '', hostname, pid, labels } = hello
  return {
    ...{ wid, hostname: hostname ?? null, pid: pid ?? null, labels: [...labels] },
    ...{ state, queues: queues.slice(0, mostFunctions), rss_kb: rssKb },
    ...{ jobs: held.size, connections: connections.size },
    seconds_since_beat: Math.max(0, Math.round((nowMs - lastBeatMs) / 1000)),
  }
}
