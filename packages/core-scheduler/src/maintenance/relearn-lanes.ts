import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Store } from '../store/ports.ts'

/** Lanes whose numbers are asked for at a time. */
const askedAtOnce = 500

/**
 * Tells a store that came back empty the lanes that this node knows. They may get other numbers there than
 * they had, the same for every node.
 */
export async function relearnLanes(
  store: Pick<Store, 'lanes' | 'registerLane'>,
  registry: LaneRegistry,
): Promise<void> {
  const kept = await store.lanes()
  const lost = [...registry.all()].filter((lane) => kept.get(lane) !== registry.numberOf(lane))
  const numbers: number[] = []
  for (let at = 0; at < lost.length; at += askedAtOnce) {
    const some = lost.slice(at, at + askedAtOnce)
    numbers.push(...(await Promise.all(some.map((lane) => store.registerLane(lane)))))
  }
  for (const lane of lost) registry.remove(lane)
  for (const [at, lane] of lost.entries()) registry.add(lane, numbers[at] ?? 0)
}
