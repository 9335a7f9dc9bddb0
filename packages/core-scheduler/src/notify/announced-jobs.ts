import type { NodeContext } from '../node/node-context.ts'
import type { IdleSearch } from '../dispatch/idle-search.ts'

interface Parts extends NodeContext {
  readonly idleSearch: IdleSearch
}

/**
 * Jobs that native clients announce. A lane of such a job is registered, one announcement of a lane at a time. A message
 * may come from another database: a lane is added only if its job is in this one.
 */
export class AnnouncedJobs {
  readonly #parts: Parts
  /** The newest announcement of each lane being looked at; 0: none came meanwhile. */
  readonly #next = new Map<string, number>()

  constructor(parts: Parts) {
    const { registry, ownSubmissions, idleSearch } = parts
    this.#parts = parts
    parts.events.on('created', (lane, id) => {
      if (registry.numberOf(lane) === undefined) this.#announced(lane, id)
      else {
        ownSubmissions.settled(lane, () => {
          if (!ownSubmissions.isOwn(lane, id)) idleSearch.announced(lane)
        })
      }
    })
  }

  #announced(lane: string, id: number): void {
    const isLooking = this.#next.has(lane)
    this.#next.set(lane, isLooking ? id : 0)
    if (!isLooking) void this.#look(lane, id)
  }

  async #look(lane: string, first: number): Promise<void> {
    const { store, registry, registrar, idleSearch, observer } = this.#parts
    try {
      for (let id = first; id !== 0; id = this.#next.get(lane) ?? 0) {
        this.#next.set(lane, 0)
        const [job] =
          registry.numberOf(lane) === undefined ? await store.jobs.look(lane, [id]) : [true]
        if (!job) continue
        await registrar.register(lane)
        idleSearch.announced(lane)
        return
      }
    } catch (error) {
      observer.error('new lane', error)
    } finally {
      this.#next.delete(lane)
    }
  }
}
