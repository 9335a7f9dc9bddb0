import type { Wakeups } from '../dispatch/wakeups.ts'
import type { NativeRecovery } from '../maintenance/native-recovery.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Waiters } from '../results/waiters.ts'
import type { Clock } from '../clock.ts'

/** A client that waits this long may wait for a native worker: its lane's events are watched. */
export const watchWaitersAfterMs = 100

interface Parts {
  readonly clock: Clock
  readonly registry: LaneRegistry
  readonly wakeups: Wakeups
  readonly waiters: Waiters
  readonly recovery: NativeRecovery
}

/** Lanes whose events this node needs: with idle workers, or waiters for native workers. */
export class WantedLanes {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** All lanes while a consumer is idle: its queues may have lanes that no gateway knows yet. */
  now(): Iterable<string> | 'all' {
    const { wakeups, registry, waiters, clock, recovery } = this.#parts
    const wanted = new Set<string>(recovery.watched)
    for (const key of wakeups.idle.keys()) {
      const name = key.slice(1)
      if (key.startsWith('q')) return 'all'
      wanted.add(name)
      if (key.startsWith('f')) for (const lane of registry.ofFunction(name)) wanted.add(lane)
    }
    const beforeMs = clock.nowMs() - watchWaitersAfterMs
    for (const lane of waiters.lanes()) {
      const isOld = waiters.olderThan(lane, beforeMs, 1).length > 0
      if (isOld || recovery.isWorked(lane)) wanted.add(lane)
    }
    return wanted
  }
}
