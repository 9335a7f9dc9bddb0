import type { NodeContext } from '../node/node-context.ts'

/**
 * Passes changed routes to the store: lanes of another queue, functions to be opened. Changes that
 * fail are repeated with the next heartbeats.
 */
export class RouteChanges {
  readonly #parts: NodeContext
  /** Former queues by lane. */
  readonly #moved = new Map<string, ReadonlySet<string>>()
  readonly #toOpen = new Set<string>()
  readonly #toKeep = new Set<string>()

  constructor(parts: NodeContext) {
    this.#parts = parts
    parts.tasks.add({ name: 'routes', run: () => this.#publish() })
  }

  /** Replaces the home queues, opens functions to consumers, and registers others. */
  apply(
    homes: ReadonlyMap<string, string>,
    routed: readonly string[],
    kept: readonly string[] = [],
  ): void {
    const { registry, counts, observer } = this.#parts
    const moved = registry.rehome(homes)
    counts.lanesMoved(moved.keys())
    for (const [lane, former] of moved) this.#noteMoved(lane, [former])
    for (const fn of routed) this.#toOpen.add(fn)
    for (const fn of kept) this.#toKeep.add(fn)
    this.#publish().catch((error: unknown) => observer.error('routes', error))
  }

  async #publish(): Promise<void> {
    const { store, registry, registrar } = this.#parts
    for (const fn of this.#toOpen) {
      await registrar.register(fn)
      await store.lanes.open(fn)
      await store.lanes.keep(fn)
      this.#toOpen.delete(fn)
    }
    for (const fn of this.#toKeep) {
      await registrar.register(fn)
      await store.lanes.keep(fn)
      this.#toKeep.delete(fn)
    }
    for (const [lane, formers] of this.#moved) {
      this.#moved.delete(lane)
      try {
        const { queue } = registry.names.parse(lane)
        for (const former of formers) if (former !== queue) await store.lanes.rehome(lane, former)
      } catch (error) {
        this.#noteMoved(lane, formers)
        throw error
      }
    }
  }

  #noteMoved(lane: string, formers: Iterable<string>): void {
    this.#moved.set(lane, new Set([...(this.#moved.get(lane) ?? []), ...formers]))
  }
}
