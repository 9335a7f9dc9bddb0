import { StoreError, tooManyLanes } from '@crossgear/core-scheduler'
import { chunks } from '../chunks.ts'
import type { RedisContext } from '../connection/redis-context.ts'

/** Such a name is no hash tag: its keys would be in many slots. */
export function isNoTag(lane: string): boolean {
  return lane.startsWith('}')
}

/** Lanes of a call, a third of a millisecond of the server's time. */
const lanesPerCall = 32

interface Registering {
  readonly lane: string
  readonly registered: (number: number) => void
  readonly refused: (error: unknown) => void
}

/** Registers lanes. Outside a cluster a call has all that were asked for during the one before. */
export class Registration {
  readonly #context: RedisContext
  #waiting: Registering[] = []
  #isCalling = false

  constructor(context: RedisContext) {
    this.#context = context
  }

  /** The lane's number. */
  register(lane: string): Promise<number> {
    if (this.#context.isCluster) return registerInCluster(this.#context, lane)
    return new Promise((registered, refused) => {
      this.#waiting.push({ lane, registered, refused })
      if (!this.#isCalling) void this.#registerAll()
    })
  }

  async #registerAll(): Promise<void> {
    this.#isCalling = true
    while (this.#waiting.length > 0) {
      const all = this.#waiting
      this.#waiting = []
      for (const some of chunks(all, lanesPerCall)) await this.#registerSome(some)
    }
    this.#isCalling = false
  }

  async #registerSome(some: readonly Registering[]): Promise<void> {
    const { run, keys, graceMs, names } = this.#context
    const named = some.flatMap(({ lane }) => {
      const { fn } = names.parse(lane)
      return [lane, fn === lane ? '' : fn]
    })
    try {
      const reply = await run('register-lanes', [keys.lanes], [graceMs, ...named])
      const numbers = reply as (number | Buffer)[]
      for (const [at, { registered, refused }] of some.entries()) {
        const number = numbers[at] ?? 0
        if (number === 0) refused(tooManyLanes())
        else if (typeof number === 'number') registered(number)
        else refused(new StoreError('REFUSED', number.toString()))
      }
    } catch (error) {
      for (const { refused } of some) refused(error)
    }
  }
}

/**
 * The registry is in another slot than the lane, and its function's home lane in a third one. A lane that was dropped gets
 * another number: the node that drops it then takes the old one alone from the registry.
 */
export async function registerInCluster(context: RedisContext, lane: string): Promise<number> {
  const { run, keys } = context
  if (isNoTag(lane)) {
    throw new StoreError('REFUSED', 'a cluster takes no function name that begins with a brace')
  }
  const closed = await closedByHome(context, lane)
  for (;;) {
    const gone = Number(await run('close-until', [keys.meta(lane)], [lane, ...closed]))
    const number = Number(await run('register-in-cluster', [keys.lanes], [lane, gone]))
    if (number === 0) throw tooManyLanes()
    if ((await run('number-lane', [keys.meta(lane)], [number])) === 1) return number
  }
}

/** Workers of the home lane close a new lane, too. One that comes back keeps its state. */
async function closedByHome(
  { run, keys, graceMs, names }: RedisContext,
  lane: string,
): Promise<readonly (Buffer | string)[]> {
  const { fn } = names.parse(lane)
  if (fn === lane) return ['0', '']
  return (await run('closed-until', [keys.meta(fn)], [fn, graceMs])) as Buffer[]
}

/** The numbers of lanes in the registry; 0 for those that are not there. */
export async function numbersOf(
  { call, redis, keys }: RedisContext,
  lanes: readonly string[],
): Promise<readonly number[]> {
  return (await call(() => redis.hmget(keys.lanes, ...lanes))).map(Number)
}

/** In a cluster: completes the end of a lane; `gone`: as the script returned it. */
export async function withdrawLane(
  { run, keys }: RedisContext,
  lane: string,
  gone: readonly Buffer[],
): Promise<void> {
  const former = await run('withdraw-lane', [keys.lanes], [lane, ...gone])
  for (const other of (former as Buffer[]).map(String)) {
    await run('forget-former', [keys.meta(other)], [])
  }
}
