import type { History } from './history.ts'

/** How far the store's clock has gone, from any moment to a later one, milliseconds. */
interface Stray {
  readonly aheadMs: number
  readonly backMs: number
}

/** The steps of the store's clock in that time of the world. */
export function strayOf(
  { clockSteps }: Pick<History, 'clockSteps'>,
  fromMs: number,
  toMs: number,
): Stray {
  let [aheadMs, backMs, risenMs, fallenMs] = [0, 0, 0, 0]
  for (const { atMs, ms } of clockSteps) {
    if (atMs < fromMs || atMs > toMs) continue
    risenMs = Math.max(0, risenMs + ms)
    fallenMs = Math.max(0, fallenMs - ms)
    aheadMs = Math.max(aheadMs, risenMs)
    backMs = Math.max(backMs, fallenMs)
  }
  return { aheadMs, backMs }
}
