import type { Bridging } from '../dispatch/bridging.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Store } from '../store/store.ts'
import { BackgroundLoop, type LoopParts } from './background-loop.ts'
import { beatEveryMs } from './nodes/heartbeat.ts'
import { LaneRounds } from './lane-rounds.ts'
import type { TaskTimes } from './task-times.ts'

/** Lanes checked completely per run, some 15 us of the store's time each; more lanes take turns. */
const lanesPerRun = 2_000
/** Most runs, one a second, until all lanes had their turn. */
const runsPerRound = 60
/** With more lanes, non-empty ones are found and checked within five runs. */
const runsForOccupied = 5

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
    const rounds = new LaneRounds(registry, lanesPerRun, runsPerRound)
    const occupied = new LaneRounds(registry, lanesPerRun, runsForOccupied)
    const heal = async (): Promise<void> => {
      const isMany = registry.size > lanesPerRun
      const looked = rounds.next()
      const stranded = await store.lanes.heal(looked)
      if (!isMany) {
        bridging.looked(looked, stranded)
        return
      }
      const some = occupied.next()
      bridging.looked(some, await store.lanes.heal(some, 'occupied'))
    }
    const run = (): Promise<void> => tasks.time('heal', heal)
    super(parts, { name: 'heal', everyMs: beatEveryMs, run })
  }
}
