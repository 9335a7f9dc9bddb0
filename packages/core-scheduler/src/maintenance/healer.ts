import type { Bridging } from '../dispatch/bridging.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Store } from '../store/store.ts'
import { BackgroundLoop, type LoopParts } from './background-loop.ts'
import { beatEveryMs } from './nodes/heartbeat.ts'
import { LaneRounds } from './lane-rounds.ts'
import type { TaskTimes } from './task-times.ts'

/**
 * Lanes per look, some 10 us of the store's time each; more lanes take turns, all within five
 * looks.
 */
const lanesPerLook = 2_000
const looksPerRound = 5

interface Parts extends LoopParts {
  readonly store: Pick<Store, 'lanes'>
  readonly registry: LaneRegistry
  readonly bridging: Bridging
  readonly tasks: TaskTimes
}

/** Repairs indexes after native programs wrote into lanes. */
export class Healer extends BackgroundLoop {
  constructor(parts: Parts) {
    const { store, registry, bridging, tasks } = parts
    const rounds = new LaneRounds(registry, lanesPerLook, looksPerRound)
    const heal = async (): Promise<void> => {
      const looked = rounds.next()
      bridging.looked(looked, await store.lanes.heal(looked))
    }
    const run = (): Promise<void> => tasks.time('heal', heal)
    super(parts, { name: 'heal', everyMs: beatEveryMs, run })
  }
}
