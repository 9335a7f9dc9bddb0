import { ContextPart } from '../connection/context-part.ts'

/** An older join without an answer belongs to a dead node, milliseconds. */
const overdueMs = 15_000
/** Overdue joins per look. */
const overdueAtOnce = 100

/** Jobs counted into a batch before they are stored. */
export interface Join {
  /** The name of the batch in the lane. */
  readonly note: string
  readonly bid: string
  readonly lane: string
  readonly jobs: number
}

/**
 * In a cluster a batch and its jobs are in different slots: the batch counts jobs first, with a note that stays until the
 * lane has confirmed. If the node dies in between, another asks the lane, which from then on refuses jobs of that note.
 */
export class BatchJoins extends ContextPart {
  #joins = 0

  /** Undefined if the batch is unknown or over. */
  async join(bid: string, lane: string, jobs: number): Promise<Join | undefined> {
    const { run, keys, node } = this.context
    this.#joins += 1
    const join = { note: `${node}-${this.#joins}`, bid, lane, jobs }
    const isKnown = await run('batch-join', [keys.batch(bid)], [bid, jobs, memberOf(join)])
    return isKnown === 1 ? join : undefined
  }

  /** Settles a join of which `left` jobs were not stored. */
  async settle(join: Join, left: number): Promise<void> {
    const { run, keys, redis, call } = this.context
    const { bid, lane, note } = join
    await run('batch-settle', [keys.batch(bid)], [bid, left, memberOf(join)])
    if (left < join.jobs) await call(() => redis.del(keys.joined(lane, note)))
  }

  /** Settles joins left by dead nodes. */
  async settleOverdue(): Promise<void> {
    const { run, keys, ignoreUnavailable } = this.context
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
