import type { HeldRef } from '@crossgear/core-scheduler'
import { chunks } from '../chunks.ts'
import type { RedisContext } from '../connection/redis-context.ts'

/** This node's leases of a lane with tokens in this range, read in pieces. */
export async function leasesByToken(
  { run, keys, node }: RedisContext,
  lane: string,
  first: number,
  end: number,
): Promise<HeldRef[]> {
  const found = new Map<string, HeldRef>()
  let cursor = '0'
  do {
    const args = [lane, node, first, end, cursor]
    const reply = (await run('leases-by-token', [keys.busy(lane)], args)) as Buffer[]
    const [next = '0', ...leases] = reply.map(String)
    for (const [id, token = ''] of chunks(leases, 2))
      found.set(token, { lane, id: Number(id), token })
    cursor = next
  } while (cursor !== '0')
  return [...found.values()]
}
