import type { ScriptArgument, ScriptName } from '../scripts/scripts.ts'
import type { RedisContext } from '../connection/redis-context.ts'
import type { BatchOutbox } from './batch-outbox.ts'

/** How a lane stands. */
export interface Head {
  /** Rank of its next job among those of its queue. */
  readonly rank: number | undefined
  /** Level of its next job. */
  readonly level: number | undefined
  /** When its next scheduled job is due, milliseconds. */
  readonly dueMs: number | undefined
  /** How consumers may take its jobs: it is open for good, or by the automatic rule. */
  readonly openness: string | undefined
}

/**
 * Scripts after which the indexes in other slots may be out of date. Those that are true put jobs into
 * queues unheard, so that idle workers have to be told.
 */
const stirring: Readonly<Partial<Record<ScriptName, boolean>>> = {
  import: false,
  'import-undo': false,
  heal: true,
  promote: true,
  'reclaim-node': true,
  repair: true,
  'move-jobs': true,
  'open-lane': true,
  'set-workers': true,
  'batch-callback': true,
  'non-empty': false,
  cancel: false,
  'end-jobs': false,
  'clear-lane': false,
}

/** Where a script's lane stands among its arguments, if not first. Some take many; in a cluster it is one. */
const placeOfLane: Readonly<Partial<Record<ScriptName, number>>> = {
  promote: 1,
  heal: 1,
  'set-workers': 2,
}

/**
 * Brings the indexes of a cluster in line with a lane, which is in another slot. They are hints: a node
 * that dies in between leaves them to the next look at the lane, which every node takes now and then.
 */
export class HintUpdater {
  readonly #context: RedisContext
  readonly #outbox: BatchOutbox

  constructor(context: RedisContext, ties: BatchOutbox) {
    this.#context = context
    this.#outbox = ties
  }

  /** The step itself is done: where the server of an index is away, its answer stands all the same. */
  async after(name: ScriptName, args: readonly ScriptArgument[]): Promise<void> {
    await this.#context.ignoreUnavailable(() => this.#follow(name, args))
  }

  /** After a step of a lane; `putsBack`: unheard, so that idle workers have to be told. */
  async follow(lane: string, putsBack: boolean): Promise<void> {
    await this.#context.ignoreUnavailable(async () => {
      await this.look(lane, putsBack)
    })
  }

  async #follow(name: ScriptName, args: readonly ScriptArgument[]): Promise<void> {
    if (name === 'batch-commit') await this.#outbox.pushCallbacks()
    const tells = stirring[name]
    if (tells === undefined) return
    const lane = String(args[placeOfLane[name] ?? 0])
    if (name === 'promote')
      await this.#context.call(() => this.#context.redis.zrem(this.#context.keys.due, lane))
    await this.look(lane, tells)
  }

  /** How a lane stands. Batches are told what they do not know of it. */
  async headOf(lane: string): Promise<Head> {
    const { run, keys } = this.#context
    const reply = (await run('head', [keys.busy(lane)], [lane])) as Buffer[]
    const [rank = '', level = '', due = '', openness = '', ties = ''] = reply.map(String)
    if (ties !== '') await this.#outbox.settle(lane)
    const number = (text: string): number | undefined => (text === '' ? undefined : Number(text))
    const head = { rank: number(rank), level: number(level), dueMs: number(due) }
    return { ...head, openness: openness || undefined }
  }

  /** Looks how a lane stands; what the indexes say of it is never later than what it says itself. */
  async look(lane: string, tells = false): Promise<Head> {
    const { call, redis, keys, names } = this.#context
    const head = await this.headOf(lane)
    const { rank, dueMs, openness } = head
    const ready = keys.ready(names.parse(lane).queue)
    const hintReady = async (): Promise<void> => {
      if (rank === undefined || openness === undefined) return
      const isNews = await this.#hint(ready, lane, rank)
      if (isNews && tells) await call(() => redis.publish(keys.events, `wake\0${lane}\x001`))
    }
    const hintDue = async (): Promise<void> => {
      if (dueMs !== undefined) await this.#hint(keys.due, lane, dueMs)
    }
    await Promise.all([hintReady(), hintDue()])
    return head
  }

  /**
   * Puts a lane later in its queue's index, or takes it out. Looks again after it: a job may have come
   * before, whose own hint this has undone.
   */
  async correct(queue: string, lane: string, rank: number | undefined): Promise<Head> {
    const { call, redis, keys } = this.#context
    if (rank === undefined) await call(() => redis.zrem(keys.ready(queue), lane))
    else await this.#hint(keys.ready(queue), lane, rank, false)
    return this.look(lane)
  }

  /** Changes the index and says if it did. An earlier score stays, unless told otherwise. */
  async #hint(index: string, lane: string, score: number, keepsEarlier = true): Promise<boolean> {
    const flag = keepsEarlier ? '1' : ''
    return (await this.#context.run('hint', [index], [lane, score, flag])) === 1
  }
}
