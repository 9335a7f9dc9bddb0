import type { Wakeups } from '../../dispatch/wakeups.ts'
import type { LaneRegistry } from '../../model/lane-registry.ts'
import type { RetryPolicy } from '../../model/retry-policy.ts'
import type { SchedulerEmitter } from '../../scheduler-events.ts'
import type { Store } from '../../store/store.ts'
import { inTurn, type LoopParts } from '../background-loop.ts'

interface Parts extends LoopParts {
  readonly store: Pick<Store, 'nodes'>
  readonly registry: LaneRegistry
  readonly wakeups: Wakeups
  readonly retryPolicy: RetryPolicy
  readonly events: SchedulerEmitter
}

/** Requeues the jobs of dead nodes in the background, so that heartbeats go on. */
export class DeadNodeReclaimer {
  readonly #parts: Parts
  #running: Promise<void> | undefined
  #end: (() => void) | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  start(): void {
    const { events } = this.#parts
    this.#end = events.on('deadNodes', (nodes) => this.#reclaimAll(nodes))
  }

  stop(): void {
    this.#end?.()
  }

  /** Resolves when the work in progress is done. */
  idle(): Promise<void> {
    return this.#running ?? Promise.resolve()
  }

  /** Nodes skipped while others are being reclaimed are named again by the next beat. */
  #reclaimAll(nodes: readonly string[]): void {
    const { observer } = this.#parts
    this.#running ??= inTurn(nodes.map((node) => () => this.#reclaim(node)))
      .catch((error: unknown) => observer.error('dead nodes', error))
      .finally(() => (this.#running = undefined))
  }

  async #reclaim(node: string): Promise<void> {
    const { store, registry, wakeups, retryPolicy } = this.#parts
    const lanes = await store.nodes.reclaim(node, [...registry.all()], retryPolicy.ofLoss())
    for (const lane of lanes) wakeups.wake(lane, 1)
  }
}
