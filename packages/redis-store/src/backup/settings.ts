import { chunks } from '../chunks.ts'
import type { RedisContext } from '../connection/redis-context.ts'
import type { RedisLanes } from '../lanes/lane-steps.ts'
import type { RedisQueues } from '../lanes/queues.ts'

/** A batch without a change for this long is forgotten, seconds. */
const batchSeconds = 30 * 24 * 3600
const keysPerLook = 1_000
const callbackLists = ['complete', 'success'] as const
/** Fields of a lane that are settings, not figures. */
const laneFields = ['open', 'closed', 'bridged', 'max:high', 'max:normal', 'max:low'] as const

/** A setting of a store, by an operator or a client. Plain JSON. */
export type Setting =
  | {
      readonly kind: 'lane'
      readonly lane: string
      readonly fields: Readonly<Record<string, string>>
    }
  /** Times at which cron entries pushed their last jobs into a lane, milliseconds since 1970. */
  | {
      readonly kind: 'ticks'
      readonly lane: string
      readonly ticks: Readonly<Record<string, string>>
    }
  /** Paused queues, functions (or single lanes of some), and cron entries. */
  | {
      readonly kind: 'paused'
      readonly queues: readonly string[]
      readonly functions: readonly string[]
      /** None. */
      readonly cron?: readonly string[]
    }
  /** Added by hand; `entry` is JSON text. */
  | { readonly kind: 'cron'; readonly name: string; readonly entry: string }
  | {
      readonly kind: 'batch'
      readonly bid: string
      readonly fields: Readonly<Record<string, string>>
      /** The callbacks not pushed so far, as the store has them, base64. */
      readonly callbacks: Readonly<Record<(typeof callbackLists)[number], readonly string[]>>
    }

/** All settings of a store. */
export async function* readSettings(
  context: RedisContext,
  lanes: RedisLanes,
): AsyncGenerator<Setting> {
  const { call, redis, keys } = context
  const queues = await call(() => redis.smembers(keys.paused))
  const functions = await call(() => redis.smembers(keys.pausedFunctions))
  const cron = await call(() => redis.smembers(keys.pausedCron))
  if (queues.length + functions.length + cron.length > 0) {
    yield { kind: 'paused', queues, functions, ...(cron.length > 0 && { cron }) }
  }
  for (const [name, entry] of Object.entries(await call(() => redis.hgetall(keys.cron)))) {
    yield { kind: 'cron', name, entry }
  }
  const former = await call(() => redis.zrange(keys.former, '0', '-1'))
  for (const lane of new Set([...(await lanes.all()).keys(), ...former])) {
    const values = await call(() => redis.hmget(keys.meta(lane), ...laneFields))
    const pairs = laneFields.flatMap((name, at) =>
      values[at] === null ? [] : [[name, values[at]]],
    )
    if (pairs.length > 0) {
      yield { kind: 'lane', lane, fields: Object.fromEntries(pairs) as Record<string, string> }
    }
    const ticks = await call(() => redis.hgetall(keys.ticks(lane)))
    if (Object.keys(ticks).length > 0) yield { kind: 'ticks', lane, ticks }
  }
  yield* batches(context)
}

async function* batches(context: RedisContext): AsyncGenerator<Setting> {
  const { call, redis, keys } = context
  const prefix = keys.batch('')
  for (const server of context.masters()) {
    let cursor = '0'
    do {
      const from = cursor
      const [next, found] = await call(() =>
        server.scan(from, 'MATCH', `${prefix}*`, 'COUNT', keysPerLook, 'TYPE', 'hash'),
      )
      cursor = next
      for (const key of found) {
        const fields = await call(() => redis.hgetall(key))
        if (fields['created'] === undefined) continue
        const lists = await Promise.all(
          callbackLists.map((what) => call(() => redis.lrangeBuffer(`${key}:${what}`, 0, -1))),
        )
        const [complete = [], success = []] = lists.map((words) =>
          words.map((word) => word.toString('base64')),
        )
        yield {
          kind: 'batch',
          bid: key.slice(prefix.length),
          fields,
          callbacks: { complete, success },
        }
      }
    } while (cursor !== '0')
  }
}

/** The parts of the store that read and write settings. */
export interface SettingParts {
  readonly lanes: RedisLanes
  readonly queues: RedisQueues
}

type Restorers = {
  readonly [Kind in Setting['kind']]: (
    context: RedisContext,
    parts: SettingParts,
    setting: Extract<Setting, { kind: Kind }>,
  ) => Promise<void>
}

/** A value that the store has already stays as it is. */
const restorers: Restorers = {
  async lane({ call, redis, pipeline, keys }, { lanes }, { lane, fields }) {
    await lanes.register(lane)
    const meta = keys.meta(lane)
    const { open, ...others } = fields
    await pipeline((commands) => {
      for (const name of laneFields) {
        const value = others[name]
        if (value !== undefined) commands.hsetnx(meta, name, value)
      }
    })
    if (open === undefined || (await call(() => redis.hexists(meta, 'open'))) === 1) return
    await (open === '1' ? lanes.open(lane) : lanes.close(lane))
  },

  async ticks({ pipeline, keys }, _parts, { lane, ticks }) {
    await pipeline((commands) => {
      for (const [entry, ms] of Object.entries(ticks)) commands.hsetnx(keys.ticks(lane), entry, ms)
    })
  },

  async paused({ call, redis, keys }, { queues: store }, { queues, functions, cron = [] }) {
    for (const some of chunks(cron, keysPerLook)) {
      await call(() => redis.sadd(keys.pausedCron, ...some))
    }
    for (const some of chunks(queues, keysPerLook)) await store.setPaused(some, true)
    for (const some of chunks(functions, keysPerLook)) await store.setFunctionsPaused(some, true)
  },

  async cron({ call, redis, keys }, _parts, { name, entry }) {
    await call(() => redis.hsetnx(keys.cron, name, entry))
  },

  async batch(context, _parts, { bid, fields, callbacks }) {
    const { call, redis, keys, run, transaction } = context
    const key = keys.batch(bid)
    if ((await call(() => redis.exists(key))) === 1) return
    await transaction((commands) => {
      commands.hset(key, fields).expire(key, batchSeconds)
      for (const what of callbackLists) {
        const words = callbacks[what].map((word) => Buffer.from(word, 'base64'))
        if (words.length === 0) continue
        // This store decides which queue's hint index its scripts may write.
        words[1] = Buffer.from(context.queueOf(String(words[0])))
        commands.rpush(`${key}:${what}`, ...words).expire(`${key}:${what}`, batchSeconds)
      }
    })
    if (fields['committed'] === '1') await run('batch-commit', [key], [bid, '1'])
  },
}

/** Restores one setting. */
export function restoreSetting(
  context: RedisContext,
  parts: SettingParts,
  setting: Setting,
): Promise<void> {
  const restore = restorers[setting.kind] as (
    context: RedisContext,
    parts: SettingParts,
    setting: Setting,
  ) => Promise<void>
  return restore(context, parts, setting)
}
