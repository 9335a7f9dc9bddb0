import {
  holderOf,
  type HeldRef,
  type JobRef,
  type JobStore,
  type LeasedJob,
  type Regained,
} from '@crossgear/core-scheduler'
import { chunks } from '../chunks.ts'
import type { RedisContext } from '../connection/redis-context.ts'
import type { JidIndex } from './jid-index.ts'
import { JobReads } from './job-reads.ts'
import { leasesByToken } from './leases-by-token.ts'

/** Unique ids times lanes per call, under a millisecond of the server's time. */
const lookupsPerCall = 1_000
/** How long a late outcome may take once its job is held for it, milliseconds. */
const lateOutcomeMs = 60_000
/** By the script's answer. */
const regained: readonly Regained[] = ['no', 'last', 'earlier']
/** Expired leases after which a call looks at no other lane: 500 take some 2 ms of the server's time. */
const enoughExpired = 250

/** The steps that give out leases. */
interface LeaseSteps {
  /** All tokens that were given out are below it. */
  readonly nextToken: number
  /** Puts jobs back whose lease nobody has heard of. */
  readonly settleLost: () => Promise<void>
}

/** The store port's part for looks at jobs, and for leases. */
export class RedisJobs extends JobReads implements JobStore {
  readonly #jids: JidIndex
  readonly #steps: LeaseSteps

  constructor(context: RedisContext, jids: JidIndex, steps: LeaseSteps) {
    super(context)
    this.#jids = jids
    this.#steps = steps
  }

  findJid(jid: string): Promise<JobRef | undefined> {
    return this.#jids.find(jid)
  }

  async keepOutcomes(lane: string, ids: readonly number[], seconds: number): Promise<void> {
    const { run, keys } = this.context
    await run('keep-outcomes', [keys.uid(lane)], [lane, seconds, ...ids])
  }

  async noteMove(from: JobRef, to: JobRef | undefined, keptMs: number): Promise<void> {
    const { redis, keys, call } = this.context
    const key = keys.moved(from.lane, from.id)
    if (!to) return void (await call(() => redis.del(key)))
    await call(() => redis.set(key, `${to.id} ${to.lane}`, 'PX', Math.ceil(keptMs)))
  }

  async movedTo({ lane, id }: JobRef): Promise<JobRef | undefined> {
    const { redis, keys, call } = this.context
    const [, number, to] =
      /^(\d{1,16}) (.+)$/s.exec((await call(() => redis.get(keys.moved(lane, id)))) ?? '') ?? []
    return to === undefined ? undefined : { lane: to, id: Number(number) }
  }

  async abandon(lane: string, ids: readonly number[]): Promise<void> {
    const { run, keys, node } = this.context
    await run('abandon', [keys.busy(lane)], [lane, node, ...ids])
  }

  async regain({ lane, id, token }: HeldRef): Promise<Regained> {
    const { run, keys } = this.context
    const queue = this.context.queueOf(lane)
    for (let searched = ''; ;) {
      const args = [lane, id, token, searched, lateOutcomeMs, queue]
      const reply = await run('regain', [keys.busy(lane)], args)
      if (typeof reply === 'number') return regained[reply] ?? 'no'
      searched = String(reply)
    }
  }

  async expired(lanes: readonly string[], max: number): Promise<readonly LeasedJob[]> {
    const { perLanesThere } = this.context
    const found = await perLanesThere(lanes, (some) => this.#expiredOf(some, max))
    const leased: LeasedJob[] = []
    for (const [lane, tokens] of tokensByLane(found)) {
      for (const job of await this.look(lane, [...tokens.keys()])) {
        // Another node may have ended it since.
        if (job?.token === undefined || job.token !== tokens.get(job.id)) continue
        leased.push({ ...job, token: job.token, heldBy: holderOf(job.token) })
      }
    }
    // Leases that nobody has heard of go back as well. A look-up that fails is repeated.
    await this.context.ignoreUnavailable(() => this.#steps.settleLost())
    return leased
  }

  async held(lanes: readonly string[]): Promise<readonly HeldRef[]> {
    const { keys, eachLane, perLanesThere } = this.context
    return perLanesThere(lanes, async (some) => {
      const sizes = await eachLane(some, (commands, lane) => commands.zcard(keys.busy(lane)))
      const busy = some.filter((_lane, at) => Number(sizes[at]) > 0)
      const found = await Promise.all(
        busy.map((lane) => leasesByToken(this.context, lane, 0, this.#steps.nextToken)),
      )
      return found.flat()
    })
  }

  /** Jobs of the lanes with each of these unique ids, in pieces that let other calls pass. */
  async findUniques(
    uniques: readonly Uint8Array[],
    lanes: readonly string[],
  ): Promise<readonly (readonly JobRef[])[]> {
    const { run, keys, perLanes } = this.context
    const found = uniques.map((): JobRef[] => [])
    const wanted = uniques.map((unique) => Buffer.from(unique))
    const lanesPerCall = Math.max(1, Math.floor(lookupsPerCall / wanted.length))
    for (const piece of chunks(lanes, lanesPerCall)) {
      const replies = await perLanes(piece, async (some, first) => {
        const args = [wanted.length, ...wanted, ...some]
        const reply = await run('find-uniques', [keys.unique(first)], args)
        return [...chunks(reply as (Buffer | number)[], 3)]
      })
      for (const [index, lane, id] of replies) {
        found[Number(index)]?.push({ lane: String(lane), id: Number(String(id)) })
      }
    }
    return found
  }

  /** Expired leases, by calls that stop once they have found many. */
  async #expiredOf(lanes: readonly string[], max: number): Promise<readonly HeldRef[]> {
    const { run, keys } = this.context
    const found: HeldRef[] = []
    let rest = lanes
    while (rest[0] !== undefined) {
      const args = [max, enoughExpired, ...rest]
      const [looked, ...words] = (await run('expired', [keys.busy(rest[0])], args)) as unknown[]
      found.push(...heldRefsOf(words as Buffer[]))
      rest = rest.slice(Number(looked))
    }
    return found
  }
}

function heldRefsOf(reply: readonly Buffer[]): HeldRef[] {
  return [...chunks(reply, 3)].map(([lane, id, token]) => ({
    lane: String(lane),
    id: Number(String(id)),
    token: String(token),
  }))
}

function tokensByLane(refs: readonly HeldRef[]): Map<string, Map<number, string>> {
  const lanes = new Map<string, Map<number, string>>()
  for (const { lane, id, token } of refs) {
    const tokens = lanes.get(lane) ?? new Map<number, string>()
    lanes.set(lane, tokens.set(id, token))
  }
  return lanes
}
