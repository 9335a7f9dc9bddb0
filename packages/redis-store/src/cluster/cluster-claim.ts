import {
  StoreError,
  type ClaimRequest,
  type LaneGroup,
  type Lease,
} from '@crossgear/core-scheduler'
import type { RedisContext } from '../connection/redis-context.ts'
import type { HintUpdater, Head } from './hint-updater.ts'
import type { ClusterThrottles, Permission } from './cluster-throttles.ts'
import type { SlotSteps } from './slot-steps.ts'

/** Lanes of a queue whose heads are read together. */
const hintsPerPage = 16
/** With more lanes than these a claim does not report whether it left nothing. */
const lanesLookedAt = 8
/** Lanes of a queue that are looked at while its hint index is away. */
const lanesWithoutIndex = 256

export interface ClusterClaimParts {
  readonly context: RedisContext
  readonly slots: SlotSteps
  readonly hints: HintUpdater
  readonly throttles: ClusterThrottles
}

type Standing = Head & { readonly lane: string }
type Waiting = Standing & { readonly rank: number }

/** A group and its next job. */
interface InTurn {
  readonly group: LaneGroup
  readonly head: Waiting
}

interface Hint {
  readonly lane: string
  readonly rank: number
}

/**
 * One claim in a cluster: takes from one lane, and so one slot, at a time, in the order of their heads. Another node may take
 * a job that was seen; nothing is lost. Lanes whose server is away are left out.
 */
export class ClusterClaim {
  readonly #parts: ClusterClaimParts
  readonly #request: ClaimRequest
  readonly #most: number
  readonly #taken: Lease[] = []
  /** Names of limits without room. */
  readonly #full = new Set<string>()
  /** Lanes of which a call brought nothing: this claim asks them no more. */
  readonly #spent = new Set<string>()
  /** Lanes whose server is away. */
  readonly #away = new Set<string>()
  #failure: StoreError | undefined

  constructor(parts: ClusterClaimParts, request: ClaimRequest) {
    this.#parts = parts
    this.#request = request
    this.#most = request.max + (parts.throttles.limit(request.groups) ? 0 : (request.prefetch ?? 0))
  }

  /** Throws if it found nothing and could not look everywhere. */
  async run(): Promise<readonly Lease[]> {
    await this.#takeAll()
    if (this.#taken.length === 0 && this.#failure) throw this.#failure
    return this.#taken
  }

  /** Undefined if the server it needs is away. */
  async #ignoreUnavailable<Found>(look: () => Promise<Found>): Promise<Found | undefined> {
    try {
      return await look()
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      this.#failure ??= error
      return undefined
    }
  }

  async #headOf(lane: string): Promise<Standing | undefined> {
    if (this.#away.has(lane)) return undefined
    const head = await this.#ignoreUnavailable(() => this.#parts.hints.headOf(lane))
    if (!head) this.#away.add(lane)
    return head && { ...head, lane }
  }

  async #takeAll(): Promise<void> {
    if (this.#request.byLevel) await this.#takeByLevel()
    else await this.#takeByGroup()
    if (await this.#isEmpty()) this.#request.emptied?.()
  }

  async #takeByGroup(): Promise<void> {
    for (const group of this.#request.groups) {
      const [only] = group.lanes
      if (this.#wanted === 0) break
      if (only === undefined) continue
      if (group.lanes.length === 1) await this.#take(only, this.#wanted, group)
      else if (group.queue === undefined) await this.#takeInOrder(group)
      else await this.#takeByHint(group.queue, group)
    }
  }

  /** Highest level of all groups first; groups with next jobs of one level take turns. */
  async #takeByLevel(): Promise<void> {
    const nextOf = async (group: LaneGroup): Promise<InTurn | undefined> => {
      const lanes = group.lanes.filter((lane) => !this.#spent.has(lane))
      const head = first(await this.#look(lanes))
      return head && { group, head }
    }
    const inTurn = (await Promise.all(this.#request.groups.map(nextOf))).filter(isThere)
    while (this.#wanted > 0 && inTurn.length > 0) {
      const highest = Math.max(...inTurn.map(({ head }) => head.level ?? 0))
      const at = inTurn.findIndex(({ head }) => (head.level ?? 0) === highest)
      const [{ group, head }] = inTurn.splice(at, 1) as [InTurn]
      await this.#take(head.lane, 1, group)
      const next = await nextOf(group)
      if (next) inTurn.push(next)
    }
  }

  /** True if a named worker would find nothing more; not asked of many lanes. */
  async #isEmpty(): Promise<boolean> {
    const { by, groups, emptied } = this.#request
    const mayHaveMissed = this.#full.size > 0 || this.#failure !== undefined
    if (!emptied || by !== 'named' || mayHaveMissed) return false
    const lanes = groups.flatMap((group) => group.lanes)
    if (lanes.length > lanesLookedAt) return false
    const isEmpty = this.#wanted > 0 || (await this.#look(lanes)).length === 0
    return isEmpty && this.#away.size === 0
  }

  get #wanted(): number {
    return this.#most - this.#taken.length
  }

  #mayTake({ openness, lane }: Standing): boolean {
    const { by, access = 'auto', paused } = this.#request
    if (paused?.has(lane)) return false
    if (by === 'named' || access === 'any' || openness === 'open') return true
    return openness === 'auto' && access === 'auto'
  }

  /** Returns the number of jobs taken. A lane that gave none is spent. */
  async #take(lane: string, max: number, group: LaneGroup): Promise<number> {
    const taken = await this.#takeFrom(lane, max, group)
    if (taken === 0) this.#spent.add(lane)
    return taken
  }

  async #takeFrom(lane: string, max: number, { leaseMs }: LaneGroup): Promise<number> {
    const { slots, throttles } = this.#parts
    const { by, access, dropped } = this.#request
    const isPaused = this.#request.paused?.has(lane) ?? false
    if (isPaused || this.#isPassedOver(lane) || this.#away.has(lane)) return 0
    const due = Math.max(0, this.#request.max - this.#taken.length)
    const limits = throttles.of(lane)
    let most = throttles.areOn(lane) ? Math.min(max, due) : max
    const permissions: Permission[] = []
    // No wait without a limit: the claim goes with what else there is for the slot.
    for (const name of limits) {
      const permission = await this.#permit(name, most)
      if (permission) permissions.push(permission)
      most = permission?.allowed ?? 0
      if (most === 0) break
    }
    if (most === 0) {
      await this.#settle(permissions, [])
      return 0
    }
    const asked = Math.min(most, due)
    const prefetch = most - asked
    const wanted = {
      by,
      max: asked,
      prefetch,
      ...(access && { access }),
      ...(dropped && { dropped }),
    }
    const taken = await this.#ignoreUnavailable(() => slots.claim(lane, wanted, leaseMs))
    if (!taken) {
      this.#away.add(lane)
      return 0
    }
    this.#taken.push(...taken)
    await this.#settle(permissions, taken)
    // A dropped job may have been the last of its batch.
    await this.#headOf(lane)
    return taken.length
  }

  /** Undefined where the limit's server is away. */
  async #permit(name: string, max: number): Promise<Permission | undefined> {
    const { worker, throttled } = this.#request
    const permission = await this.#ignoreUnavailable(() =>
      this.#parts.throttles.take(name, max, worker),
    )
    if (!permission || permission.heldBackMs !== undefined) this.#full.add(name)
    if (permission?.heldBackMs !== undefined) throttled?.(name, permission.heldBackMs)
    return permission
  }

  async #settle(permissions: readonly Permission[], taken: readonly Lease[]): Promise<void> {
    for (const permission of permissions) {
      await this.#ignoreUnavailable(() => permission.settle(taken))
    }
  }

  /** True if nothing comes from a lane: it is spent, a limit has no room, or it has one and only prefetched jobs are wanted. */
  #isPassedOver(lane: string): boolean {
    const { throttles } = this.#parts
    if (this.#spent.has(lane)) return true
    if (!throttles.areOn(lane)) return false
    if (this.#taken.length >= this.#request.max) return true
    return throttles.of(lane).some((name) => this.#full.has(name))
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

  /**
   * The index has each lane at the rank of its head or earlier; a wrong hint is corrected. Each turn takes jobs, spends a
   * lane, passes over hints or corrects one: one that did none of these is the last.
   */
  async #takeByHint(queue: string, group: LaneGroup): Promise<void> {
    const { context } = this.#parts
    const key = context.keys.ready(queue)
    let skipped = 0
    let before: readonly string[] = []
    while (this.#wanted > 0 && !this.#full.has(queue)) {
      const [from, to] = [String(skipped), String(skipped + hintsPerPage - 1)]
      const page = await this.#ignoreUnavailable(() =>
        context.call(() => context.redis.zrange(key, from, to, 'WITHSCORES')),
      )
      if (!page) {
        await this.#takeInOrder({ ...group, lanes: group.lanes.slice(0, lanesWithoutIndex) })
        return
      }
      const hints = pairsOf(page)
      const last = hints.length === hintsPerPage ? hints.at(-1)?.rank : undefined
      const looks = await Promise.all(hints.map((hint) => this.#checked(queue, hint)))
      const seen = looks.filter((head) => head !== undefined)
      const open = seen
        .filter((head) => this.#mayTake(head) && !this.#isPassedOver(head.lane))
        .filter(isWaiting)
      const best = first(open)
      if (best && (last === undefined || best.rank <= last)) {
        const most = open.length === 1 && last === undefined ? this.#wanted : 1
        await this.#take(best.lane, most, group)
      } else if (!best && last === undefined) return
      else {
        const closed = seen.filter(
          (head) =>
            head.rank !== undefined &&
            head.openness &&
            (!this.#mayTake(head) || this.#isPassedOver(head.lane)),
        )
        const passed = closed.length + looks.length - seen.length
        if (passed === 0 && String(page) === String(before)) return
        skipped += passed
        before = page
      }
    }
  }

  /** The state of a hint's lane; corrects a wrong hint. */
  async #checked(queue: string, { lane, rank }: Hint): Promise<Standing | undefined> {
    const head = await this.#headOf(lane)
    const real = head?.openness === undefined ? undefined : head.rank
    if (!head || (real !== undefined && real <= rank)) return head
    const { hints } = this.#parts
    const corrected = await this.#ignoreUnavailable(() => hints.correct(queue, lane, real))
    return corrected ? { ...corrected, lane } : head
  }

  async #look(lanes: readonly string[]): Promise<Waiting[]> {
    const heads = await Promise.all(lanes.map((lane) => this.#headOf(lane)))
    return heads
      .filter((head) => head !== undefined)
      .filter((head) => this.#mayTake(head))
      .filter(isWaiting)
  }
}

function isThere<T>(value: T | undefined): value is T {
  return value !== undefined
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

function pairsOf(page: readonly string[]): Hint[] {
  const pairs = []
  for (let at = 0; at + 1 < page.length; at += 2) {
    pairs.push({ lane: page[at] ?? '', rank: Number(page[at + 1]) })
  }
  return pairs
}
