import type {
  BatchCallback,
  BatchPage,
  BatchPlace,
  BatchState,
  BatchStore,
  CallbackState,
  NewBatch,
} from '@crossgear/core-scheduler'
import { addFields } from './jobs/job-hash.ts'
import { KeyScan } from './lanes/key-scan.ts'
import type { ScriptArgument } from './scripts/script-name.ts'
import { ContextPart } from './connection/context-part.ts'

/** Keys per step of a clean-up. */
const keysPerScan = 1_000

/** The store port's part for batches. */
export class RedisBatches extends ContextPart implements BatchStore {
  async create({ bid, parent = '', description, complete, success }: NewBatch): Promise<boolean> {
    const { run, keys } = this.context
    const callbacks = [complete, success].flatMap((callback) => {
      const words = callback ? this.#words(callback) : []
      return [words.length, ...words]
    })
    return (
      (await run('batch-new', [keys.batch(bid)], [bid, parent, description, ...callbacks])) === 1
    )
  }

  commit(bid: string): Promise<boolean> {
    return this.#setCommitted(bid, '1')
  }

  open(bid: string): Promise<boolean> {
    return this.#setCommitted(bid, '0')
  }

  async state(bid: string): Promise<BatchState | undefined> {
    const { redis, keys, call } = this.context
    return stateOf(bid, await call(() => redis.hgetall(keys.batch(bid))))
  }

  async list(
    from: BatchPlace | undefined,
    max: number,
    order: 'asc' | 'desc' = 'desc',
  ): Promise<BatchPage> {
    const { redis, keys, call, pipeline } = this.context
    const page = ['WITHSCORES', 'LIMIT', from?.passed ?? 0, max] as const
    const found = await call(() =>
      order === 'asc'
        ? redis.zrangebyscore(keys.batches, from?.createdAtMs ?? '-inf', '+inf', ...page)
        : redis.zrevrangebyscore(keys.batches, from?.createdAtMs ?? '+inf', '-inf', ...page),
    )
    const listed = pairsOf(found)
    const hashes = (await pipeline((commands) => {
      for (const { bid } of listed) commands.hgetall(keys.batch(bid))
    })) as Readonly<Record<string, string>>[]
    const states = listed.map(({ bid }, at) => stateOf(bid, hashes[at] ?? {}))
    const next = listed.length < max ? undefined : placeBehind(listed, from)
    return { batches: states.filter((state) => state !== undefined), ...(next && { next }) }
  }

  async clear(): Promise<void> {
    const { redis, keys, call } = this.context
    const scan = new KeyScan(this.context, keys.batch('*'), keysPerScan)
    do {
      const found = await scan.next()
      if (found.length > 0) await call(() => redis.unlink(...found))
    } while (!scan.isAtStart)
    await call(() => redis.del(keys.batches))
  }

  async #setCommitted(bid: string, committed: '0' | '1'): Promise<boolean> {
    const { run, keys } = this.context
    return (await run('batch-commit', [keys.batch(bid)], [bid, committed])) === 1
  }

  #words({ lane, job }: BatchCallback): ScriptArgument[] {
    const words: ScriptArgument[] = [lane, this.context.queueOf(lane), job.level, job.jid]
    addFields(words, job)
    return words
  }
}

/** As written by `settleBatch` in lua/lib/step/batches.lua. */
const states: Readonly<Record<string, CallbackState>> = { 1: 'pushed', 2: 'done', 3: 'failed' }

function stateOf(bid: string, fields: Readonly<Record<string, string>>): BatchState | undefined {
  if (fields['created'] === undefined) return undefined
  const count = (name: string): number => Number(fields[name] ?? 0)
  return {
    bid,
    description: fields['description'] ?? '',
    ...(fields['parent'] !== undefined && { parent: fields['parent'] }),
    createdAtMs: count('created'),
    total: count('total'),
    pending: count('pending'),
    failed: count('failed'),
    complete: callbackState(fields, 'complete'),
    success: callbackState(fields, 'success'),
  }
}

interface Listed {
  readonly bid: string
  readonly createdAtMs: number
}

function pairsOf(found: readonly string[]): readonly Listed[] {
  const pairs: Listed[] = []
  for (let at = 0; at + 1 < found.length; at += 2) {
    pairs.push({ bid: found[at] ?? '', createdAtMs: Number(found[at + 1]) })
  }
  return pairs
}

/** Several may have been created at one time. */
function placeBehind(
  listed: readonly Listed[],
  from: BatchPlace | undefined,
): BatchPlace | undefined {
  const createdAtMs = listed.at(-1)?.createdAtMs
  if (createdAtMs === undefined) return undefined
  const same = listed.filter((each) => each.createdAtMs === createdAtMs).length
  const before = from?.createdAtMs === createdAtMs ? from.passed : 0
  return { createdAtMs, passed: before + same }
}

function callbackState(
  fields: Readonly<Record<string, string>>,
  what: 'complete' | 'success',
): CallbackState {
  const stored = fields[what]
  if (fields[`calls:${what}`] === undefined || stored === undefined) return 'none'
  return states[stored] ?? 'pushed'
}
