import { functionLimit, limitNames, type LaneGroup, type Throttle } from '@crossgear/core-scheduler'
import type { RedisContext } from '../connection/redis-context.ts'
import { isLimited, limitArguments, type Throttles } from '../step/throttle-arguments.ts'

/** Permission to hand out some jobs under a limit. */
export interface Permission {
  readonly allowed: number
  /**
   * Set by a limit that held jobs back: for how long, milliseconds; 0: until one of its jobs
   * ends.
   */
  readonly heldBackMs?: number
  /** Reports which jobs were handed out. */
  settle(jobs: readonly Job[]): Promise<void>
}

interface Job {
  readonly lane: string
  readonly id: number
}

/**
 * Limits in a cluster: they are in other slots, so permission is taken before a claim.
 */
export class ClusterThrottles {
  readonly #context: RedisContext
  #throttles: Throttles
  #permissions = 0

  constructor(context: RedisContext, throttles: Throttles) {
    this.#context = context
    this.#throttles = throttles
  }

  /** Replaces the limits. */
  configure(throttles: Throttles): void {
    this.#throttles = throttles
  }

  /** Names of the limits of a lane, but of those that its slot keeps itself. */
  of(lane: string): readonly string[] {
    if (this.#throttles.size === 0) return []
    const names = limitNames(this.#context.names.parse(lane))
    return names.filter(
      (name) => this.#throttles.get(name)?.isPerTurn === undefined && this.#throttles.has(name),
    )
  }

  /** True if a lane has a limit, also one that its slot keeps itself: nothing of it is prefetched. */
  areOn(lane: string): boolean {
    return this.#throttles.size > 0 && (this.of(lane).length > 0 || this.hasTurns(lane))
  }

  /** True if jobs of a lane take turns: the end of one may bring the next into line. */
  hasTurns(lane: string): boolean {
    const { fn } = this.#context.names.parse(lane)
    return this.#throttles.get(functionLimit(fn))?.isPerTurn ?? false
  }

  /** True if a claim of these groups prefetches nothing. */
  limit(groups: readonly LaneGroup[]): boolean {
    return isLimited(groups, this.#context.names, this.#throttles)
  }

  async take(name: string, wanted: number, worker?: string): Promise<Permission> {
    const throttle = this.#throttles.get(name) ?? {}
    const { run, keys, node } = this.#context
    this.#permissions += 1
    const permission = `${node}-${this.#permissions}-`
    const key = keys.slots(name)
    const limits = limitArguments(throttle, worker)
    const ask = async (): Promise<number[]> =>
      (await run('throttle-take', [key], [name, ...limits, wanted, permission])) as number[]
    let [allowed = 0, full = 0, waitMs = 0] = await ask()
    if (allowed === 0 && full === 1 && limitsSlots(throttle) && (await this.#prune(name))) {
      ;[allowed = 0, full = 0, waitMs = 0] = await ask()
    }
    return {
      allowed,
      ...(full === 1 && { heldBackMs: waitMs }),
      settle: async (jobs) => {
        if (allowed === 0) return
        const { concurrency = 0, perWorker = 0 } = throttle
        const taken = jobs.flatMap(({ lane, id }) => [lane, id])
        const whose = [concurrency, perWorker, worker ?? '']
        await run('throttle-settle', [key], [name, ...whose, permission, allowed, ...taken])
      },
    }
  }

  /** Frees the slots of jobs that ended or went back. */
  async free(name: string, jobs: readonly Job[]): Promise<void> {
    if (jobs.length === 0 || !limitsSlots(this.#throttles.get(name))) return
    const { run, keys } = this.#context
    const ended = jobs.flatMap(({ lane, id }) => [lane, id])
    await run('throttle-free', [keys.slots(name)], [name, ...ended])
  }

  /** Drops slots whose job is no longer leased, left by a step without throttles. */
  async #prune(name: string): Promise<boolean> {
    const { call, redis, keys } = this.#context
    const slots = await call(() => redis.zrange(keys.slots(name), '0', '-1'))
    const left = await Promise.all(
      slots.map(async (slot) => {
        const [lane = '', id = ''] = slot.split('\0')
        const isHeld = lane === '' || (await call(() => redis.zscore(keys.busy(lane), id))) !== null
        return isHeld ? [] : [{ lane, id: Number(id) }]
      }),
    )
    const stale = left.flat()
    await this.free(name, stale)
    return stale.length > 0
  }
}

function limitsSlots(throttle: Throttle | undefined): boolean {
  return throttle?.concurrency !== undefined || throttle?.perWorker !== undefined
}
