import type { NodeContext } from '../node/node-context.ts'
import type { Outcomes } from '../results/outcomes.ts'

/** Interval of comparisons with the store, milliseconds. */
const compareEveryMs = 60_000

interface Parts extends NodeContext {
  readonly outcomes: Outcomes
}

/**
 * Gives back leases that the store counts as this node's and that nobody here knows: a failover may
 * lose the step that ended a job.
 */
export class OrphanLeases {
  readonly #parts: Parts
  #unknownBefore = new Set<string>()

  constructor(parts: Parts) {
    const { store, clock, activeLeases, tasks } = parts
    this.#parts = parts
    const prune = (): Promise<void> => activeLeases.prune(store, clock.nowMs())
    tasks.add({ name: 'active leases', isFirst: true, run: prune })
    const compare = (): Promise<void> => this.#compare()
    tasks.add({ name: 'orphan leases', everyMs: compareEveryMs, run: compare })
  }

  /**
   * Gives back leases that were unknown at the last comparison too: outcomes and claims in progress
   * end long before.
   */
  async #compare(): Promise<void> {
    const { store, activeLeases, outcomes } = this.#parts
    const held = await store.jobs.held(activeLeases.lanesToCompare())
    const unknown = held.filter(({ token }) => !activeLeases.has(token))
    for (const { lane } of unknown) activeLeases.compareAgain(lane)
    const before = this.#unknownBefore
    this.#unknownBefore = new Set(unknown.map(({ token }) => token))
    for (const { lane, id, token } of unknown) {
      if (before.has(token)) outcomes.add(undefined, { lane, id, token, kind: 'requeueFront' })
    }
  }
}
