import type { HeldRef } from '@crossgear/core-scheduler'
import { chunks } from '../chunks.ts'
import type { RedisContext } from '../connection/redis-context.ts'

/** This node's leases of a lane with tokens in this range. */
export async function leasesByToken(
  { run, keys, node }: RedisContext,
  lane: string,
  first: number,
  end: number,
): Promise<HeldRef[]> {
  const reply = await run('leases-by-token', [keys.busy(lane)], [lane, node, first, end])
  return [...chunks(reply as Buffer[], 2)].map(([id, token]) => ({
    lane,
    id: Number(String(id)),
    token: String(token),
  }))
}
