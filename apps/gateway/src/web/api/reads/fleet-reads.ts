import type { BatchState } from '@crossgear/core-scheduler'
import { GearmanDoor } from '../../../doors/gearman/gearman-door.ts'
import { notedFields } from '../../../operations/metrics/figures/migration-figures.ts'
import type { Answers } from '../../../operations/fleet/node-answers.ts'
import type { Handlers } from '../api.ts'
import { ApiError } from '../api-error.ts'
import { cursorOf, numbersOf, pageOf } from '../cursors.ts'
import { isoTime, pageSizes } from '../schemas/common.ts'
import { type BatchCount, maxSorted } from '../schemas/fleet.ts'
import type { HandlerParts } from '../handler-parts.ts'
import { ListOrders } from './list-orders.ts'

/** Entries of a list that has no pages. */
const maxListed = 1_000
/** Functions of one connection that are named. */
const maxFunctions = 100

/** Fields of a migration in the list. */
const migrationFields = ['mode', ...notedFields] as const

/** Reads about nodes, their connections and what else runs. */
export function fleetReads({ scheduler, doors, cron, fleet, node, imports }: HandlerParts) {
  const gearman = doors.find((door) => door instanceof GearmanDoor)
  const { migrations } = imports
  return {
    listConnections({ query }) {
      const { page, ...rest } = pageOf(gearman?.connections() ?? [], query)
      const connections = page.map(({ address, clientId, functions }) => ({
        door: 'gearman',
        address,
        client_id: clientId,
        functions: functions.slice(0, maxFunctions),
        functions_total: functions.length,
      }))
      return Promise.resolve({ connections, ...rest })
    },

    async listNodes() {
      const { answers } = await fleet.about()
      const nowMs = scheduler.storeNowMs()
      const known = new Map([[node, nowMs], ...scheduler.nodes])
      return {
        nodes: [...known].slice(0, maxListed).map(([name, lastMs]) => ({
          node: name,
          last_beat_seconds: Math.max(0, nowMs - lastMs) / 1000,
          is_this: name === node,
          ...aboutView(answers.get(name)),
        })),
      }
    },

    async listCron({ scope }) {
      const all = await cron.list()
      const views = scope ? all.filter(({ entry }) => scope.hasLane(cron.laneOf(entry))) : all
      return {
        cron: views.map(({ entry, source, isPaused, lastMs, nextMs }) => {
          const { name, schedule, timezone, job } = entry
          const times = { last_run: isoTime(lastMs), next_run: isoTime(nextMs) }
          return { name, source, is_paused: isPaused, schedule, timezone, job, ...times }
        }),
      }
    },

    async listBatches({ query }) {
      const { limit = pageSizes.usual, cursor, sort = 'made', order = 'desc' } = query
      if (sort !== 'made') {
        const { batches: entries } = await scheduler.batches.list(undefined, maxSorted)
        const orders = new ListOrders({ entries, byName: () => 0, figures: batchCounts })
        const { page, cursor: next } = pageOf(await orders.get({ sort, order }), query)
        return { batches: page.map(batchView), cursor: next }
      }
      const [createdAtMs = 0, passed = 0] = cursor === undefined ? [] : numbersOf(cursor, 2)
      const from = cursor === undefined ? undefined : { createdAtMs, passed }
      const { batches, next } = await scheduler.batches.list(from, limit, order)
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
  } satisfies Partial<Handlers>
}

const batchCounts: Readonly<Record<BatchCount, (batch: BatchState) => number>> = {
  total: ({ total }) => total,
  pending: ({ pending }) => pending,
  failed: ({ failed }) => failed,
}

function batchView({ bid, parent, createdAtMs, ...rest }: BatchState) {
  return { batch: bid, parent: parent ?? null, created_at: isoTime(createdAtMs), ...rest }
}

function aboutView(about: Answers['about'] | undefined) {
  const { host = null, pid = null, version = null, uptimeMs, doors } = about ?? {}
  const { workers = null, jobs = null } = about ?? {}
  return {
    answers: about !== undefined,
    host,
    pid,
    version,
    workers,
    jobs,
    doors: doors ? [...doors] : null,
    uptime_seconds: uptimeMs === undefined ? null : uptimeMs / 1000,
  }
}
