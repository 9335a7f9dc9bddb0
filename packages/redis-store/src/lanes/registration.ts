import { StoreError, tooManyLanes } from '@crossgear/core-scheduler'
import type { RedisContext } from '../connection/redis-context.ts'

/** Such a name is no hash tag: its keys would be in many slots. */
export function isNoTag(lane: string): boolean {
  return lane.startsWith('}')
}

/** Registers a lane; returns its number. */
export async function registerLane(context: RedisContext, lane: string): Promise<number> {
  const { run, keys, isCluster, graceMs } = context
  if (isCluster) return registerInCluster(context, lane)
  const { fn } = context.names.parse(lane)
  const home = fn === lane ? '' : fn
  const number = await run('register-lane', [keys.lanes], [lane, home, graceMs])
  if (number === 0) throw tooManyLanes()
  return Number(number)
}

/**
 * The registry is in another slot than the lane, and its function's home lane in a third one. A lane that was dropped gets
 * another number: the node that drops it then takes the old one alone from the registry.
 */
async function registerInCluster(context: RedisContext, lane: string): Promise<number> {
  const { run, keys } = context
  if (isNoTag(lane)) {
    throw new StoreError('REFUSED', 'a cluster takes no function name that begins with a brace')
  }
  const closed = await closedByHome(context, lane)
  for (;;) {
    const gone = Number(await run('close-until', [keys.meta(lane)], [lane, ...closed]))
    const number = Number(await run('register-lane', [keys.lanes], [lane, '', 0, gone]))
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
