import type { JidIndex } from '../jobs/jid-index.ts'
import type { RedisContext } from '../connection/redis-context.ts'

/** Entries told to batches in one step. */
const entriesPerStep = 1_000

/** `job done 12 BID`, `callback done 12 BID:success`, as `untie` in lua/lib/step/ties.lua writes them. */
const entryForm = /^(job|callback) (done|failed) (\d+) (.*)$/s

/**
 * Batches in a cluster. A batch is in the slot of the broker, its jobs in those of their lanes: a lane
 * notes which of its jobs have ended, in the same step, and a node tells the batch and then forgets the
 * note. Told twice it is the same, so that any node may do it after one that died in between.
 */
export class BatchOutbox {
  readonly #context: RedisContext
  readonly #jids: JidIndex

  constructor(context: RedisContext, jids: JidIndex) {
    this.#context = context
    this.#jids = jids
  }

  /** Tells the batches which jobs of a lane have ended, and the index of jids which have come and ended. */
  async settle(lane: string): Promise<void> {
    const { call, redis, run, keys, ignoreUnavailable } = this.#context
    const noted = await call(() => redis.srandmember(keys.batchOutbox(lane), entriesPerStep))
    const ofJids = noted.filter((entry) => entry.startsWith('jid '))
    const byBatch = new Map<string, string[]>()
    const done = noted.filter((entry) => !entry.startsWith('jid '))
    for (const entry of done) {
      const [, kind = '', word = '', id = '', tie = ''] = entryForm.exec(entry) ?? []
      const colon = kind === 'callback' ? tie.lastIndexOf(':') : tie.length
      const words = [kind, word, kind === 'callback' ? tie : id]
      const bid = tie.slice(0, colon)
      byBatch.set(bid, [...(byBatch.get(bid) ?? []), ...words])
    }
    // Batches do not wait for a slot of the index whose server is away.
    await ignoreUnavailable(async () => {
      await this.#jids.follow(lane, ofJids)
      done.push(...ofJids)
    })
    for (const [bid, words] of byBatch) {
      await run('batch-announce', [keys.batch(bid)], [bid, lane, ...words])
    }
    if (done.length > 0) await call(() => redis.srem(keys.batchOutbox(lane), ...done))
    if (byBatch.size > 0) await this.pushCallbacks()
  }

  /** Pushes the callbacks of batches that have come so far. */
  async pushCallbacks(): Promise<void> {
    const { call, redis, run, keys } = this.#context
    for (const callback of await call(() => redis.lrange(keys.callbacks, 0, -1))) {
      const [bid, what] = partsOf(callback)
      const list = `${keys.batch(bid)}:${what}`
      const words = await call(() => redis.lrangeBuffer(list, 0, -1))
      const [lane] = words
      if (lane) {
        const args = [String(lane), callback, ...words.slice(1)]
        await run('batch-callback', [keys.uid(String(lane))], args)
      }
      await call(() => redis.lrem(keys.callbacks, 0, callback))
      await call(() => redis.del(list))
    }
  }
}

function partsOf(callback: string): [bid: string, what: string] {
  const colon = callback.lastIndexOf(':')
  return [callback.slice(0, colon), callback.slice(colon + 1)]
}
