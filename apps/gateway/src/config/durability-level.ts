import type { Durability } from '@crossgear/redis-store'

/** How many replicas may be asked for. */
export const maxReplicas = 100

/** Reads `store`, `fsync` or `replicas:n`; undefined for anything else. */
export function readDurability(text: string): Durability | undefined {
  if (text === 'store' || text === 'fsync') return { level: text }
  const replicas = Number(/^replicas:(\d{1,3})$/.exec(text)?.[1] ?? 0)
  return replicas >= 1 && replicas <= maxReplicas ? { level: 'replicas', replicas } : undefined
}
