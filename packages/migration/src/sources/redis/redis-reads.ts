import type { ServerConnection } from '@crossgear/redis-store'
import { lineOf } from '../../errors.ts'
import type { Others } from '../others.ts'

/** Members per SCAN. */
const scanned = 1_000

/** Keys that match, each once. */
export async function scanKeys(redis: ServerConnection, pattern: string): Promise<string[]> {
  const found = new Set<string>()
  let cursor = '0'
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', scanned)
    for (const key of keys) found.add(key)
    cursor = next
  } while (cursor !== '0')
  return [...found]
}

/** A name escaped for use in a pattern. */
export function escapedPattern(name: string): string {
  return name.replaceAll(/[[\]*?\\^]/g, String.raw`\$&`)
}

/** Other programs' connections to the database. `gateways`: count those of Crossgear too. */
export async function otherClients(redis: ServerConnection, gateways = false): Promise<Others> {
  let list: string
  try {
    list = String(await redis.call('CLIENT', 'LIST', 'TYPE', 'normal'))
  } catch (error) {
    if (!/^(NOPERM|ERR unknown)/.test(lineOf(error))) throw error
    return { count: 0, unseen: 'its server does not list its connections to this user' }
  }
  const db = `db=${redis.options.db ?? 0}`
  const lines = list.split('\n').filter((line) => line.split(' ').includes(db))
  const others = lines.filter((line) => !line.includes(' name=crossgear:'))
  if (!gateways) return { count: others.length }
  const own = `id=${String(await redis.call('CLIENT', 'ID'))} `
  return { count: lines.filter((line) => !line.startsWith(own)).length }
}

/** How many fit into this many bytes, at least one. */
export function countIn(sizes: readonly number[], bytes: number): number {
  let count = 0
  for (let sum = 0; count < sizes.length && (count === 0 || sum < bytes); count += 1) {
    sum += sizes[count] ?? 0
  }
  return count
}

/** Commands that are sent together. */
export type Commands = ReturnType<ServerConnection['pipeline']>

/** Sends commands; returns their replies. Throws the first error among them. */
export async function repliesTo(commands: Commands): Promise<unknown[]> {
  const replies = (await commands.exec()) ?? []
  for (const [error] of replies) if (error) throw error
  return replies.map(([, reply]) => reply)
}

/** Average bytes of a list's or sorted set's members; 1 if it is empty. */
export async function averageBytes(
  redis: ServerConnection,
  { key, type }: { readonly key: string; readonly type: 'list' | 'zset' },
): Promise<number> {
  const [bytes, members] = await Promise.all([
    redis.memory('USAGE', key, 'SAMPLES', 20),
    type === 'list' ? redis.llen(key) : redis.zcard(key),
  ])
  return Math.max(1, (bytes ?? 0) / Math.max(1, members))
}
