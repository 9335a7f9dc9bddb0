import type { Wakeups } from '../dispatch/wakeups.ts'
import type { Store } from '../store/store.ts'
import { BackgroundLoop, type LoopParts } from './background-loop.ts'
import type { TaskTimes } from './task-times.ts'

/** Interval of promotions, milliseconds. */
const promoteEveryMs = 100

interface Parts extends LoopParts {
  readonly store: Pick<Store, 'lanes'>
  readonly tasks: TaskTimes
  readonly wakeups: Wakeups
}

/** Moves due jobs into their queues. */
export class Promoter extends BackgroundLoop {
  constructor(parts: Parts) {
    const { store, tasks, wakeups } = parts
    const promote = async (): Promise<void> => {
      for (const { lane, jobs } of await store.lanes.promote()) wakeups.wake(lane, jobs)
    }
    const run = (): Promise<void> => tasks.time('promote', promote)
    super(parts, { name: 'promote', everyMs: promoteEveryMs, run })
  }
}
