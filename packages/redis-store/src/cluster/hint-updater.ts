import { framed } from '../connection/frames.ts'
import type { ScriptArgument, ScriptName } from '../scripts/script-name.ts'
import type { RedisContext } from '../connection/redis-context.ts'
import type { BatchOutbox } from './batch-outbox.ts'

/** The state of a lane. */
export interface Head {
  /** Rank of its next job in its queue. */
  readonly rank: number | undefined
  /** Level of its next job. */
  readonly level: number | undefined
  /** Due time of its next scheduled job, milliseconds. */
  readonly dueMs: number | undefined
  /** How consumers may take its jobs: opened for good, or by the automatic rule. */
  readonly openness: string | undefined
}

/**
 * Scripts that may leave indexes in other slots out of date. True: they queue jobs without an
 * event, so idle workers have to be woken.
 */
const wakingScripts: Readonly<Partial<Record<ScriptName, boolean>>> = {
  import: false,
  'import-undo': true,
  heal: true,
  promote: true,
  'reclaim-node': true,
  repair: true,
  'move-jobs': true,
  'open-lane': true,
  'set-workers': true,
  'push-once': true,
  replace: true,
  'non-empty': false,
  // The next job of a value may have its turn.
  cancel: true,
  regain: true,
  'end-jobs': true,
  'end-queued': true,
  'end-stale': true,
  'clear-lane': true,
}

/**
 * Place of the lane among a script's arguments, if not first. Some scripts take many lanes; in a
 * cluster it is one.
 */
const placeOfLane: Readonly<Partial<Record<ScriptName, number>>> = {
  promote: 1,
  heal: 2,
  'set-workers': 2,
  'end-stale': 3,
}

/**
 * Keeps a cluster's indexes, which are in other slots, up to date with a lane. They are hints: if a
 * node dies in between, the next regular look at the lane corrects them.
 */
export class HintUpdater {
  readonly #context: RedisContext
  readonly #outbox: BatchOutbox

  constructor(context: RedisContext, outbox: BatchOutbox) {
    this.#context = context
    this.#outbox = outbox
  }

  /** The step itself is done: if the server of an index is away, its answer stands. */
  async after(name: ScriptName, args: readonly ScriptArgument[]): Promise<void> {
    await this.#context.ignoreUnavailable(() => this.#follow(name, args))
  }

  /**
   * Called after a step of a lane; `putsBack`: jobs went back without an event, so idle workers
   * have to be woken.
   */
  async follow(lane: string, putsBack: boolean): Promise<void> {
    await this.#context.ignoreUnavailable(async () => {
      await this.look(lane, putsBack)
    })
  }

  async #follow(name: ScriptName, args: readonly ScriptArgument[]): Promise<void> {
    if (name === 'batch-commit') await this.#outbox.pushCallbacks()
    const wakes = wakingScripts[name]
    if (wakes === undefined) return
    const lane = String(args[placeOfLane[name] ?? 0])
    if (name === 'promote')
      await this.#context.call(() => this.#context.redis.zrem(this.#context.keys.due, lane))
    await this.look(lane, wakes)
  }

  /** The state of a lane. Passes its notes on to batches. */
  async headOf(lane: string): Promise<Head> {
    const { run, keys } = this.#context
    const reply = (await run('head', [keys.busy(lane)], [lane])) as Buffer[]
    const [rank = '', level = '', due = '', openness = '', ended = ''] = reply.map(String)
    if (ended !== '') await this.#outbox.settle(lane)
    const number = (text: string): number | undefined => (text === '' ? undefined : Number(text))
    const head = { rank: number(rank), level: number(level), dueMs: number(due) }
    return { ...head, openness: openness || undefined }
  }

  /** Looks at a lane and moves its hints earlier where needed. */
  async look(lane: string, wakes = false): Promise<Head> {
    const { call, redis, keys, names } = this.#context
    const head = await this.headOf(lane)
    const { rank, dueMs, openness } = head
    const ready = keys.ready(names.parse(lane).queue)
    const hintReady = async (): Promise<void> => {
      if (rank === undefined || openness === undefined) return
      const isNews = await this.#hint(ready, lane, rank)
      if (isNews && wakes) await call(() => redis.publish(keys.events, framed('wake', lane, '1')))
    }
    const hintDue = async (): Promise<void> => {
      if (dueMs !== undefined) await this.#hint(keys.due, lane, dueMs)
    }
    await Promise.all([hintReady(), hintDue()])
    return head
  }

  /**
   * Moves a lane to a later rank of its queue's index, or removes it. Looks again afterwards: this
   * may have undone the hint of a job that came before.
   */
  async correct(queue: string, lane: string, rank: number | undefined): Promise<Head> {
    const { call, redis, keys } = this.#context
    if (rank === undefined) await call(() => redis.zrem(keys.ready(queue), lane))
    else await this.#hint(keys.ready(queue), lane, rank, false)
    return this.look(lane)
  }

  /** Changes the index and says if it did. An earlier score stays, unless the call replaces it. */
  async #hint(index: string, lane: string, score: number, keepsEarlier = true): Promise<boolean> {
    const flag = keepsEarlier ? '1' : ''
    return (await this.#context.run('hint', [index], [lane, score, flag])) === 1
  }
}
