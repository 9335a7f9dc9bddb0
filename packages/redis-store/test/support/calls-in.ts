import type { Redis } from 'ioredis'

/** How often a server was sent these commands, since it counts. */
export async function callsIn(redis: Redis, ...commands: readonly string[]): Promise<number> {
  const stats = await redis.info('commandstats')
  const line = new RegExp(`^cmdstat_(?:${commands.join('|')}):calls=(\\d+)`, 'gm')
  return [...stats.matchAll(line)].reduce((sum, [, calls]) => sum + Number(calls), 0)
}
