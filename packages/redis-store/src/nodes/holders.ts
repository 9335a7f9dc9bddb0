import type { HeldRef, HolderStore, GoneHolder } from '@crossgear/core-scheduler'
import { chunks } from '../chunks.ts'
import { ContextPart } from '../connection/context-part.ts'

/** Holders whose leases are read at once. */
const holdersPerCall = 500

/** The store port's part for holders of leases. */
export class RedisHolders extends ContextPart implements HolderStore {
  async hold(holder: string, leases: readonly HeldRef[]): Promise<void> {
    const { run, keys } = this.context
    const words = leases.flatMap(({ lane, id, token }) => [token, `${id} ${lane}`])
    await run('hold', [keys.holders], [holder, ...words])
  }

  async drop(holder: string, tokens: readonly string[]): Promise<void> {
    const { run, keys } = this.context
    await run('drop-held', [keys.holders], [holder, ...tokens])
  }

  async alive(holders: readonly string[]): Promise<void> {
    const { run, keys } = this.context
    await run('holders-alive', [keys.holders], ['', ...holders])
  }

  async gone(holders: readonly string[]): Promise<void> {
    const { run, keys } = this.context
    await run('holders-alive', [keys.holders], ['1', ...holders])
  }

  async goneFor(forMs: number, max: number): Promise<readonly GoneHolder[]> {
    const { run, keys } = this.context
    const reply = (await run('gone-holders', [keys.holders], [forMs, max])) as Buffer[]
    const [now = '', ...found] = reply.map(String)
    return [...chunks(found, 2)].map(([holder = '', since]) => {
      const sinceMs = Number(since)
      return { holder, sinceMs, goneMs: Number(now) - sinceMs }
    })
  }

  async noted(tokens: readonly string[]): Promise<ReadonlySet<string>> {
    const { redis, keys, call, pipeline } = this.context
    const wanted = new Set(tokens)
    const found = new Set<string>()
    const holders = await call(() => redis.zrange(keys.holders, '0', '-1'))
    for (const some of chunks(holders, holdersPerCall)) {
      const replies = await pipeline((commands) => {
        for (const holder of some) void commands.hkeys(keys.held(holder))
      })
      for (const token of (replies as string[][]).flat()) if (wanted.has(token)) found.add(token)
    }
    return found
  }

  async some(
    cursor: string,
    count: number,
  ): Promise<{ readonly holders: readonly string[]; readonly next: string }> {
    const { redis, keys, call } = this.context
    const [next, pairs] = await call(() => redis.zscan(keys.holders, cursor, 'COUNT', count))
    return { holders: [...chunks(pairs, 2)].map(([holder = '']) => holder), next }
  }

  async held(holder: string): Promise<readonly HeldRef[]> {
    const { redis, keys, call } = this.context
    const leases = await call(() => redis.hgetall(keys.held(holder)))
    return Object.entries(leases).map(([token, ref]) => {
      const space = ref.indexOf(' ')
      return { lane: ref.slice(space + 1), id: Number(ref.slice(0, space)), token }
    })
  }
}
