import type { HeldRef } from '../model/job.ts'
import type { Store } from '../store/ports.ts'

/**
 * Reservations that the store has as this node's, and nobody here knows. A store that lost its last
 * steps in a failover may have lost how a job ended: without this it would be held as long as the node lives.
 */
export class OrphanLeases {
  readonly #store: Store
  readonly #isKnown: (token: string) => boolean
  #suspects = new Set<string>()

  constructor(store: Store, isKnown: (token: string) => boolean) {
    this.#store = store
    this.#isKnown = isKnown
  }

  /** Those that nobody knew at the last look either: an outcome or claim under way is done with long before. */
  async look(lanes: readonly string[]): Promise<readonly HeldRef[]> {
    const unknown = (await this.#store.held(lanes)).filter(({ token }) => !this.#isKnown(token))
    const found = unknown.filter(({ token }) => this.#suspects.has(token))
    this.#suspects = new Set(unknown.map(({ token }) => token))
    return found
  }
}
