import { setTimeout as delay } from 'node:timers/promises'
import type { LaneNames } from '@crossgear/core-scheduler'
import { chunks } from '../chunks.ts'
import type { Connection } from '../connection/connection.ts'
import { checkInvariants } from '../invariants/invariants.ts'
import type { StoreKeys } from '../keys.ts'
import { newerMessage, schemaVersion } from '../schema/schema.ts'
import { fault, ok, type Result, warning } from './finding.ts'

/** The store as a whole. */
export interface StoreFacts {
  readonly redis: Connection
  readonly keys: StoreKeys
  readonly names: LaneNames
  /** Looks at every job, however many there are. */
  readonly isFull: boolean
  /** Its clock, milliseconds since 1970. */
  readonly nowMs: number
}

/** A node without a heartbeat for this long is dead, ms. */
const deadAfterMs = 10_000
/** Time for the others to clear a dead node away, ms. */
const clearedAfterMs = 30_000
/** A lease that is over is given back by any node within a second, ms. */
const overdueMs = 10_000
const lanesPerCall = 500
/** With more keys, jobs are only checked on request. */
const maxKeys = 200_000
/** Checks of the invariants: a violation that only one of them sees was a change in progress. */
const looks = 3
const lookAgainMs = 500
const shownViolations = 10

/** One row per check of the whole store. */
export const storeChecks: Readonly<Record<string, (store: StoreFacts) => Promise<Result>>> = {
  schema: async ({ redis, keys }) => {
    const found = await redis.get(keys.schema)
    const known = schemaVersion()
    if (found === null)
      return ok('no version is noted: the store is new, or an older gateway used it')
    if (Number(found) > known)
      return fault(newerMessage(Number(found), known), 'use the newer crossgear')
    if (Number(found) === known) return ok(`structures of version ${found}`)
    return warning(
      `structures of version ${found}, this is ${known}`,
      'stop the older gateways: then the newer ones take over',
    )
  },

  nodes: async ({ redis, keys, nowMs }) => {
    const nodes = await heartbeats(redis, keys)
    const dead = nodes.filter(({ atMs }) => nowMs - atMs > deadAfterMs)
    const ahead = nodes.filter(({ atMs }) => atMs - nowMs > deadAfterMs)
    const alive = nodes.length - dead.length
    const list = dead.map(({ node, atMs }) => `${node} (${Math.round((nowMs - atMs) / 1000)} s)`)
    if (ahead.length > 0) {
      return fault(
        `${ahead.length} nodes with heartbeats in the future`,
        "correct the store's clock: it was turned back",
      )
    }
    if (dead.length === 0) return ok(alive === 0 ? 'no gateway runs' : `${alive} alive`)
    const message = `${alive} alive, without a heartbeat: ${list.join(', ')}`
    if (alive === 0) return warning(message, 'start a gateway: it requeues their jobs')
    const isLong = dead.some(({ atMs }) => nowMs - atMs > clearedAfterMs)
    return isLong
      ? fault(message, 'look at the logs of the others: they should have requeued its jobs')
      : warning(message, 'wait: the others requeue its jobs within seconds')
  },

  counts: async ({ redis, keys }) => {
    const known = new Set((await heartbeats(redis, keys)).map(({ node }) => node))
    const unknown = new Map<string, string>()
    for (const some of chunks(await redis.hkeys(keys.lanes), lanesPerCall)) {
      const fields = await Promise.all(some.map((lane) => redis.hkeys(keys.meta(lane))))
      for (const [at, lane] of some.entries()) {
        for (const node of nodesOf(fields[at] ?? [])) if (!known.has(node)) unknown.set(node, lane)
      }
    }
    if (unknown.size === 0) return ok('workers of known gateways alone')
    const list = [...unknown].map(([node, lane]) => `${node} (in ${lane})`)
    return fault(
      `workers of ${unknown.size} unknown gateways: ${list.slice(0, shownViolations).join(', ')}`,
      'keep a gateway running: it removes them within 20 minutes',
    )
  },

  leases: async ({ redis, keys, nowMs }) => {
    const lanes = await redis.hkeys(keys.lanes)
    let [held, overdue] = [0, 0]
    for (const some of chunks(lanes, lanesPerCall)) {
      const counts = await Promise.all(
        some.flatMap((lane) => [
          redis.zcard(keys.busy(lane)),
          redis.zcount(keys.busy(lane), '-inf', nowMs - overdueMs),
        ]),
      )
      for (const [at, count] of counts.entries()) {
        if (at % 2 === 0) held += count
        else overdue += count
      }
    }
    if (overdue === 0) return ok(`${held} jobs with workers, none over its time`)
    const message = `${overdue} of ${held} jobs with workers are over their time and unconfirmed`
    const isRunning = (await heartbeats(redis, keys)).some(({ atMs }) => nowMs - atMs < deadAfterMs)
    return isRunning
      ? fault(message, 'look at the logs of the gateways: they should have requeued them')
      : warning(message, 'start a gateway: it requeues them')
  },

  invariants: async ({ redis, keys, names, isFull }) => {
    const keyCount = await sizeOf(redis)
    if (keyCount > maxKeys && !isFull) {
      return warning(`not checked: there are ${keyCount} keys`, 'use --full at a quiet time')
    }
    const check = () => checkInvariants(redis, { keys, names, native: true })
    let found = await check()
    for (let look = 1; look < looks && found.length > 0; look += 1) {
      await delay(lookAgainMs)
      const again = new Set(await check())
      found = found.filter((violation) => again.has(violation))
    }
    if (found.length === 0) return ok('each job is in its place')
    const shown = found.slice(0, shownViolations).join('; ')
    const more =
      found.length > shownViolations ? `; and ${found.length - shownViolations} more` : ''
    return fault(
      shown + more,
      'keep a copy (crossgear backup) and report it: no gateway should leave this',
    )
  },
}

/** Nodes with worker counts among the fields of a lane. */
function nodesOf(fields: readonly string[]): readonly string[] {
  return fields.flatMap((field) => /^[ncl]:(.+)$/.exec(field)?.[1] ?? [])
}

async function heartbeats(redis: Connection, keys: StoreKeys) {
  const pairs = await redis.zrange(keys.nodes, '0', '-1', 'WITHSCORES')
  return Array.from(chunks(pairs, 2), ([node = '', atMs]) => ({ node, atMs: Number(atMs) }))
}

async function sizeOf(redis: Connection): Promise<number> {
  const servers = 'nodes' in redis ? redis.nodes('master') : [redis]
  const sizes = await Promise.all(servers.map((server) => server.dbsize()))
  return sizes.reduce((sum, size) => sum + size, 0)
}
