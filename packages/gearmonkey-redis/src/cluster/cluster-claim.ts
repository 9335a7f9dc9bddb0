import {
  StoreError,
  type ClaimRequest,
  type LaneGroup,
  type Reservation,
} from '@crossgear/core-scheduler'
import type { RedisJobs } from '../job-steps.ts'
import type { StoreLink } from '../store-link.ts'
import type { Aftermath, Head } from './aftermath.ts'
import type { ClusterThrottles } from './cluster-throttles.ts'

/** Lanes of a queue whose heads are looked at together. */
const hintsPerPage = 16
/** Of more lanes than these a claim does not say whether it left nothing. */
const lanesLookedAt = 8

export interface ClusterClaimParts {
  readonly link: StoreLink
  readonly jobs: RedisJobs
  readonly aftermath: Aftermath
  readonly throttles: ClusterThrottles
}

type Standing = Head & { readonly lane: string }
type Waiting = Standing & { readonly rank: number }

/**
 * One claim in a cluster: lanes are in different slots, so each is taken from in a step of its own, in
 * the order of their heads. Between two steps another node may take what was seen; nothing is lost.
 */
export class ClusterClaim {
  readonly #parts: ClusterClaimParts
  readonly #request: ClaimRequest
  readonly #most: number
  readonly #taken: Reservation[] = []
  /** Queues that may give no more now. */
  readonly #full = new Set<string>()

  constructor(parts: ClusterClaimParts, request: ClaimRequest) {
    this.#parts = parts
    this.#request = request
    const { throttles, link } = parts
    const lanes = request.groups.flatMap((group) => group.lanes)
    const isLimited = lanes.some((lane) => throttles.limit(link.names.parse(lane).queue))
    this.#most = request.max + (isLimited ? 0 : (request.ahead ?? 0))
  }

  /** Where the server of some lane is away, what was taken from others before is handed out all the same. */
  async run(): Promise<readonly Reservation[]> {
    try {
      await this.#takeAll()
    } catch (error) {
      if (this.#taken.length === 0 || !(error instanceof StoreError)) throw error
    }
    return this.#taken
  }

  async #takeAll(): Promise<void> {
    for (const group of this.#request.groups) {
      const [only] = group.lanes
      if (this.#wanted === 0) break
      if (only === undefined) continue
      if (group.lanes.length === 1) await this.#take(only, this.#wanted, group)
      else if (group.queue === undefined) await this.#takeInOrder(group)
      else await this.#takeByHint(group.queue, group)
    }
    if (await this.#isEmpty()) this.#request.emptied?.()
  }

  /** Whether a named worker would find nothing more; of many lanes it is not asked. */
  async #isEmpty(): Promise<boolean> {
    const { by, groups, emptied } = this.#request
    const lanes = groups.flatMap((group) => group.lanes)
    if (!emptied || by !== 'named' || this.#full.size > 0 || lanes.length > lanesLookedAt)
      return false
    return this.#wanted > 0 || (await this.#look(lanes)).length === 0
  }

  get #wanted(): number {
    return this.#most - this.#taken.length
  }

  /** Returns how many were taken. */
  async #take(lane: string, max: number, { leaseMs }: LaneGroup): Promise<number> {
    const { jobs, throttles, link, aftermath } = this.#parts
    const { by } = this.#request
    const { queue } = link.names.parse(lane)
    if (this.#full.has(queue)) return 0
    const leave = await throttles.take(queue, max)
    if (leave?.heldBackMs !== undefined) {
      this.#full.add(queue)
      this.#request.throttled?.(queue, leave.heldBackMs)
    }
    const most = leave ? leave.allowed : max
    if (most === 0) return 0
    const taken = await jobs.claimFrom(lane, {
      by,
      max: most,
      ...(leaseMs !== undefined && { leaseMs }),
    })
    this.#taken.push(...taken)
    await leave?.settle(taken)
    // A job that was not wanted any more may have been the last of its batch.
    await aftermath.headOf(lane)
    return taken.length
  }

  async #takeInOrder(group: LaneGroup): Promise<void> {
    let heads = await this.#look(group.lanes)
    while (this.#wanted > 0) {
      const best = first(heads)
      if (!best) return
      const most = heads.length === 1 ? this.#wanted : 1
      const taken = await this.#take(best.lane, most, group)
      const others = heads.filter((head) => head !== best)
      heads = taken === 0 ? others : [...others, ...(await this.#look([best.lane]))]
    }
  }

  /** The index holds each lane at the rank of its head or earlier; a hint that is wrong is corrected. */
  async #takeByHint(queue: string, group: LaneGroup): Promise<void> {
    const { link, aftermath } = this.#parts
    const key = link.keys.ready(queue)
    let skipped = 0
    while (this.#wanted > 0 && !this.#full.has(queue)) {
      const to = skipped + hintsPerPage - 1
      const page = await link.call(() =>
        link.redis.zrange(key, String(skipped), String(to), 'WITHSCORES'),
      )
      const hints = pairsOf(page)
      const last = hints.length === hintsPerPage ? hints.at(-1)?.rank : undefined
      const seen = await Promise.all(
        hints.map(async ({ lane, rank }) => {
          const head = { ...(await aftermath.headOf(lane)), lane }
          const isRight = head.rank !== undefined && head.rank <= rank
          return isRight ? head : { ...(await aftermath.correct(queue, lane, head.rank)), lane }
        }),
      )
      const open = seen.filter((head) => head.isOpen).filter(isWaiting)
      const best = first(open)
      if (best && (last === undefined || best.rank <= last)) {
        const most = open.length === 1 && last === undefined ? this.#wanted : 1
        await this.#take(best.lane, most, group)
      } else if (!best && last === undefined) return
      else skipped += seen.filter((head) => head.rank !== undefined && !head.isOpen).length
    }
  }

  async #look(lanes: readonly string[]): Promise<Waiting[]> {
    const { aftermath } = this.#parts
    const isNamed = this.#request.by === 'named'
    const heads = await Promise.all(
      lanes.map(async (lane) => ({ ...(await aftermath.headOf(lane)), lane })),
    )
    return heads.filter((head) => isNamed || head.isOpen).filter(isWaiting)
  }
}

function isWaiting(head: Standing): head is Waiting {
  return head.rank !== undefined
}

function first(heads: readonly Waiting[]): Waiting | undefined {
  return heads.reduce<Waiting | undefined>(
    (best, head) => (best && best.rank <= head.rank ? best : head),
    undefined,
  )
}

function pairsOf(page: readonly string[]): { readonly lane: string; readonly rank: number }[] {
  const pairs = []
  for (let at = 0; at + 1 < page.length; at += 2) {
    pairs.push({ lane: page[at] ?? '', rank: Number(page[at + 1]) })
  }
  return pairs
}
