import type { JidIndex } from '../jobs/jid-index.ts'
import { registerInCluster } from '../lanes/registration.ts'
import type { RedisContext } from '../connection/redis-context.ts'

/** Entries per call. */
const entriesPerStep = 1_000

/**
 * `job done 12 BID`, `callback done 12 BID:success`, as written by `releaseDependencies` in
 * lua/lib/step/dependencies.lua.
 */
const entryForm = /^(job|callback) (done|failed) (\d+) (.*)$/s

/**
 * Batches and deaths in a cluster. A lane notes, in the step, which jobs ended, and what a dead one pushes; a node passes that to
 * the batch or lane, in another slot, and drops the note. Any node may repeat what one that died began.
 */
export class BatchOutbox {
  readonly #context: RedisContext
  readonly #jids: JidIndex

  constructor(context: RedisContext, jids: JidIndex) {
    this.#context = context
    this.#jids = jids
  }

  /** Passes a lane's notes on: ended jobs to their batches, jids to their index, what deaths push to its lane. */
  async settle(lane: string): Promise<void> {
    const { call, redis, run, keys, ignoreUnavailable } = this.#context
    const noted = await call(() => redis.srandmember(keys.batchOutbox(lane), entriesPerStep))
    const ofJids = noted.filter((entry) => entry.startsWith('jid '))
    const ofDeaths = noted.filter((entry) => entry.startsWith('death '))
    const byBatch = new Map<string, string[]>()
    const done = noted.filter((entry) => /^(job|callback) /.test(entry))
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
    for (const entry of ofDeaths) {
      const words = JSON.parse(entry.slice('death '.length)) as readonly string[]
      await this.#pushOnce(words[0] ?? '', words[3] ?? '', words.slice(1))
      done.push(entry)
    }
    if (done.length > 0) await call(() => redis.srem(keys.batchOutbox(lane), ...done))
    if (byBatch.size > 0) await this.pushCallbacks()
  }

  /** Pushes the callbacks that are due. */
  async pushCallbacks(): Promise<void> {
    const { call, redis, keys } = this.#context
    for (const callback of await call(() => redis.lrange(keys.callbacks, 0, -1))) {
      const [bid, what] = partsOf(callback)
      const list = `${keys.batch(bid)}:${what}`
      const words = await call(() => redis.lrangeBuffer(list, 0, -1))
      const [lane] = words
      if (lane) {
        const fields = [...words.slice(1), 'callback', callback]
        await this.#pushOnce(String(lane), callback, fields)
      }
      await call(() => redis.lrem(keys.callbacks, 0, callback))
      await call(() => redis.del(list))
    }
  }

  async #pushOnce(lane: string, cause: string, words: readonly (string | Buffer)[]): Promise<void> {
    const { run, keys, withEpoch } = this.#context
    const args = withEpoch([lane, cause, 0, ...words], 2)
    const push = (): Promise<unknown> => run('push-once', [keys.uid(lane)], args)
    while ((await push()) === -1) await registerInCluster(this.#context, lane)
  }
}

function partsOf(callback: string): [bid: string, what: string] {
  const colon = callback.lastIndexOf(':')
  return [callback.slice(0, colon), callback.slice(colon + 1)]
}
