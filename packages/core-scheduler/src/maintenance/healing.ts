import type { Bridging } from '../dispatch/bridging.ts'
import type { NodeContext } from '../node/node-context.ts'
import type { LaneCheck } from './lane-looks.ts'
import type { TaskTimes } from './task-times.ts'

/** Repairs indexes after native programs wrote into lanes. Stranded lanes are seen again until they are not. */
export function healing({ store }: NodeContext, bridging: Bridging, times: TaskTimes): LaneCheck {
  return {
    look: (lanes) =>
      times.time('heal', async () => {
        bridging.looked(lanes, await store.lanes.heal(lanes))
        return bridging.stranded()
      }),
  }
}
