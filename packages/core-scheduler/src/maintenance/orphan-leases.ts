import type { ActiveLeases } from '../dispatch/active-leases.ts'
import type { Outcomes } from '../results/outcomes.ts'
import type { Store } from '../store/store.ts'
import { BackgroundLoop, type LoopParts } from './background-loop.ts'

/** Interval of comparisons with the store, milliseconds. */
const compareEveryMs = 60_000

interface Parts extends LoopParts {
  readonly store: Pick<Store, 'jobs'>
  readonly activeLeases: ActiveLeases
  readonly outcomes: Outcomes
}

/**
 * Gives back leases that the store counts as this node's and that nobody here knows: a failover may
 * lose the step that ended a job.
 */
export class OrphanLeases extends BackgroundLoop {
  readonly #parts: Parts
  #unknownBefore = new Set<string>()

  constructor(parts: Parts) {
    super(parts, { name: 'orphan leases', everyMs: compareEveryMs, run: () => this.#compare() })
    this.#parts = parts
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
