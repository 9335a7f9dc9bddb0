import type { Throttle } from '@crossgear/core-scheduler'
import type { RedisContext } from '../connection/redis-context.ts'
import { limitArguments } from '../step/throttle-arguments.ts'

/** Permission to hand out some jobs of a queue. */
export interface Permission {
  readonly allowed: number
  /**
   * Set by a limit that held jobs back: for how long, milliseconds; 0: until a job of the queue
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
 * Limits of queues in a cluster: they are in another slot, so permission is taken before a claim.
 */
export class ClusterThrottles {
  readonly #context: RedisContext
  #throttles: ReadonlyMap<string, Throttle>
  #permissions = 0

  constructor(context: RedisContext, throttles: ReadonlyMap<string, Throttle>) {
    this.#context = context
    this.#throttles = throttles
  }

  /** Replaces the limits. */
  configure(throttles: ReadonlyMap<string, Throttle>): void {
    this.#throttles = throttles
  }

  limit(queue: string): boolean {
    return this.#throttles.has(queue)
  }

  /** Undefined if the queue has no limit. */
  async take(queue: string, wanted: number, worker?: string): Promise<Permission | undefined> {
    const throttle = this.#throttles.get(queue)
    if (!throttle) return undefined
    const { run, keys, node } = this.#context
    this.#permissions += 1
    const name = `${node}-${this.#permissions}-`
    const key = keys.slots(queue)
    const limits = limitArguments(throttle, worker)
    const ask = async (): Promise<number[]> =>
      (await run('throttle-take', [key], [queue, ...limits, wanted, name])) as number[]
    let [allowed = 0, full = 0, waitMs = 0] = await ask()
    if (allowed === 0 && full === 1 && limitsSlots(throttle) && (await this.#prune(queue))) {
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
        await run('throttle-settle', [key], [queue, ...whose, name, allowed, ...taken])
      },
    }
  }

  /** Frees the slots of jobs that ended or went back. */
  async free(queue: string, jobs: readonly Job[]): Promise<void> {
    if (jobs.length === 0 || !limitsSlots(this.#throttles.get(queue))) return
    const { run, keys } = this.#context
    const ended = jobs.flatMap(({ lane, id }) => [lane, id])
    await run('throttle-free', [keys.slots(queue)], [queue, ...ended])
  }

  /** Drops slots whose job is no longer leased, left by a step without throttles. */
  async #prune(queue: string): Promise<boolean> {
    const { call, redis, keys } = this.#context
    const slots = await call(() => redis.zrange(keys.slots(queue), '0', '-1'))
    const left = await Promise.all(
      slots.map(async (slot) => {
        const [lane = '', id = ''] = slot.split('\0')
        const isHeld = lane === '' || (await call(() => redis.zscore(keys.busy(lane), id))) !== null
        return isHeld ? [] : [{ lane, id: Number(id) }]
      }),
    )
    const stale = left.flat()
    await this.free(queue, stale)
    return stale.length > 0
  }
}

function limitsSlots(throttle: Throttle | undefined): boolean {
  return throttle?.concurrency !== undefined || throttle?.perWorker !== undefined
}
