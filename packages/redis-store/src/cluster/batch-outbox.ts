import type { JidIndex } from '../jobs/jid-index.ts'
import { registerLane } from '../lanes/registration.ts'
import type { RedisContext } from '../connection/redis-context.ts'

/** Entries per call. */
const entriesPerStep = 1_000

/**
 * `job done 12 BID`, `callback done 12 BID:success`, as written by `releaseDependencies` in
 * lua/lib/step/dependencies.lua.
 */
const entryForm = /^(job|callback) (done|failed) (\d+) (.*)$/s

/**
 * Batches in a cluster. A lane notes, in the same step, which of its jobs ended; a node passes that to the batch, in another
 * slot, and then drops the note. Repeating it is harmless, so any node may finish the work of one that died.
 */
export class BatchOutbox {
  readonly #context: RedisContext
  readonly #jids: JidIndex

  constructor(context: RedisContext, jids: JidIndex) {
    this.#context = context
    this.#jids = jids
  }

  /** Passes a lane's notes on: ended jobs to their batches, jids to their index. */
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

  /** Pushes the callbacks that are due. */
  async pushCallbacks(): Promise<void> {
    const { call, redis, run, keys, epoch } = this.#context
    for (const callback of await call(() => redis.lrange(keys.callbacks, 0, -1))) {
      const [bid, what] = partsOf(callback)
      const list = `${keys.batch(bid)}:${what}`
      const words = await call(() => redis.lrangeBuffer(list, 0, -1))
      const [lane] = words
      if (lane) {
        const args = [String(lane), callback, epoch.epoch, ...words.slice(1)]
        const push = (): Promise<unknown> => run('batch-callback', [keys.uid(String(lane))], args)
        while ((await push()) === -1) await registerLane(this.#context, String(lane))
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
