import { setTimeout as delay } from 'node:timers/promises'
import type { LaneNames } from '@crossgear/core-scheduler'
import { chunks } from '../chunks.ts'
import type { Connection } from '../connection/connection.ts'
import { countViolations, nativeWorkers } from '../invariants/invariant-rules.ts'
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
  /** The clock of the server, milliseconds since 1970. */
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
/** A violation that only one of these looks sees was a change in progress. */
const looks = 3
const lookAgainMs = 500
const shownViolations = 10
/** Leases without a deadline stand last. */
const leasesPerLane = 100

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
    const native: string[] = []
    const wrong = await standing(async () => {
      const found: string[] = []
      native.length = 0
      for await (const lane of countsOf(redis, keys)) {
        for (const node of nodesOf(Object.keys(lane.meta))) {
          if (!known.has(node)) unknown.set(node, lane.lane)
        }
        found.push(...countViolations(lane))
        const others = nativeWorkers(lane)
        if (others > 0) native.push(`${others} of ${lane.lane}`)
      }
      return found
    })
    if (unknown.size > 0) {
      const list = [...unknown].map(([node, lane]) => `${node} (in ${lane})`)
      return fault(
        `workers of ${unknown.size} unknown gateways: ${shown(list, ', ')}`,
        'keep a gateway running: it removes them within 20 minutes',
      )
    }
    if (wrong.length > 0) {
      return fault(shown(wrong), 'keep a gateway running: it corrects them within 20 minutes')
    }
    return ok(
      native.length === 0
        ? 'workers of known gateways alone'
        : `workers of known gateways, and native ones, or what is left of them: ${shown(native, ', ')}`,
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
    const left = await standing(() => leftLeases(redis, keys, lanes))
    if (left.length > 0) {
      return fault(
        `leases of unknown gateways: ${shown(left, ', ')}`,
        'keep a gateway running: it requeues their jobs within 20 minutes',
      )
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
    const found = await standing(() => checkInvariants(redis, { keys, names, native: true }))
    if (found.length === 0) return ok('each job is in its place')
    return fault(
      shown(found),
      'keep a copy (crossgear backup) and report it: no gateway should leave this',
    )
  },
}

/** Violations that several looks see: the others were changes in progress. */
async function standing(check: () => Promise<readonly string[]>): Promise<readonly string[]> {
  let found = await check()
  for (let look = 1; look < looks && found.length > 0; look += 1) {
    await delay(lookAgainMs)
    const again = new Set(await check())
    found = found.filter((violation) => again.has(violation))
  }
  return found
}

function shown(all: readonly string[], mark = '; '): string {
  const more = all.length > shownViolations ? `${mark}and ${all.length - shownViolations} more` : ''
  return all.slice(0, shownViolations).join(mark) + more
}

/** The worker counts of all lanes. */
async function* countsOf(redis: Connection, keys: StoreKeys) {
  for (const some of chunks(await redis.hkeys(keys.lanes), lanesPerCall)) {
    yield* await Promise.all(
      some.map(async (lane) => {
        const asked = [redis.hgetall(keys.meta(lane)), redis.get(keys.count(lane))] as const
        const [meta, count] = await Promise.all(asked)
        return { lane, meta, count }
      }),
    )
  }
}

/** Jobs that by-name workers of gateways have that are gone: the longest held ones of each lane. */
async function leftLeases(
  redis: Connection,
  keys: StoreKeys,
  lanes: readonly string[],
): Promise<readonly string[]> {
  const known = new Set((await heartbeats(redis, keys)).map(({ node }) => node))
  const found: string[] = []
  for (const some of chunks(lanes, lanesPerCall)) {
    const left = some.map(async (lane) => {
      const ids = await redis.zrange(keys.busy(lane), String(-leasesPerLane), '-1')
      const tokens = await Promise.all(ids.map((id) => redis.hget(keys.job(lane, id), 'token')))
      for (const [at, token] of tokens.entries()) {
        const [, node] = /^n(.+)-\d+$/.exec(token ?? '') ?? []
        if (node !== undefined && !known.has(node))
          found.push(`${lane}: ${ids[at] ?? ''} (${node})`)
      }
    })
    await Promise.all(left)
  }
  return found.toSorted()
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
