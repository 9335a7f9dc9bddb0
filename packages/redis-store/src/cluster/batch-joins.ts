import type { RedisContext } from '../connection/redis-context.ts'

/** A submission is on its way for a shorter time, or its node does not live any more, milliseconds. */
const overdueMs = 15_000
/** Of such that one look settles. */
const overdueAtOnce = 100

/** Jobs that were counted into a batch before they are stored. */
export interface Join {
  /** Names it in the lane. */
  readonly note: string
  readonly bid: string
  readonly lane: string
  readonly jobs: number
}

/**
 * In a cluster a batch is in another slot than its jobs: they are counted into it first, and stored after. The
 * batch keeps a note of it until it has heard what the lane took. Where the node dies in between any other asks the
 * lane, which from then on takes nothing more under that note.
 */
export class BatchJoins {
  readonly #context: RedisContext
  #joins = 0

  constructor(context: RedisContext) {
    this.#context = context
  }

  /** Undefined where the batch is not known or over. */
  async join(bid: string, lane: string, jobs: number): Promise<Join | undefined> {
    const { run, keys, node } = this.#context
    this.#joins += 1
    const join = { note: `${node}-${this.#joins}`, bid, lane, jobs }
    const isKnown = await run('batch-join', [keys.batch(bid)], [bid, jobs, memberOf(join)])
    return isKnown === 1 ? join : undefined
  }

  /** Settles a join of which `left` jobs were not stored. */
  async settle(join: Join, left: number): Promise<void> {
    const { run, keys, redis, call } = this.#context
    const { bid, lane, note } = join
    await run('batch-settle', [keys.batch(bid)], [bid, left, memberOf(join)])
    if (left < join.jobs) await call(() => redis.del(keys.joined(lane, note)))
  }

  /** Settles what nodes that died have left. */
  async settleOverdue(): Promise<void> {
    const { run, keys, ignoreUnavailable } = this.#context
    const members = await run('batch-overdue', [keys.joins], [overdueMs, overdueAtOnce])
    for (const member of members as Buffer[]) {
      const join = joinOf(String(member))
      await ignoreUnavailable(async () => {
        const stored = await run('joined', [keys.joined(join.lane, join.note)], [])
        await this.settle(join, join.jobs - Number(stored))
      })
    }
  }
}

function memberOf({ note, jobs, bid, lane }: Join): string {
  return [note, jobs, bid, lane].join('\0')
}

function joinOf(member: string): Join {
  const [note = '', jobs = '0', bid = '', ...lane] = member.split('\0')
  return { note, jobs: Number(jobs), bid, lane: lane.join('\0') }
}
