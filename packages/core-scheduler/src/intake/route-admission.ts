import type { Admission, NewJob } from '../model/job.ts'
import type { RouteTerms } from '../model/route-terms.ts'
import type { NodeContext } from '../node/node-context.ts'

/** Workers of a gateway that was restarted, and those of a new lane, are counted within this time, milliseconds. */
const countedWithinMs = 10_000
/** Lanes of a function whose waiting jobs are counted together: three commands of the store each. */
const maxLanesCounted = 64

/** Decides on what conditions a job is taken by the route of its function. */
export class RouteAdmission {
  readonly #parts: NodeContext
  /** Since when the store has the worker counts of lanes that are older, milliseconds on this node's clock. */
  #countsSinceMs: number
  /** Lanes that came of late, and when, the oldest first. */
  readonly #fresh = new Map<string, number>()

  constructor(parts: NodeContext) {
    const { events, clock } = parts
    this.#parts = parts
    this.#countsSinceMs = clock.nowMs()
    const countAgain = (): void => void (this.#countsSinceMs = clock.nowMs())
    events.on('storeReset', countAgain)
    events.on('reconnected', countAgain)
    events.on('laneCreated', (lane) => this.#noteFresh(lane))
    events.on('laneRemoved', (lane) => void this.#fresh.delete(lane))
  }

  /** Undefined for a job that is taken in any case: one of a batch or of cron, or that stands in another lane. */
  of(lane: string, job: NewJob, route: RouteTerms): Admission | undefined {
    const { needsWorker = false, maxWaiting } = route
    if (!needsWorker && maxWaiting === undefined) return undefined
    if (job.batch !== undefined || job.tick || job.isMoved) return undefined
    return {
      ...(maxWaiting !== undefined && { maxWaiting, lanes: this.#otherLanes(lane) }),
      ...(needsWorker && this.#isCounted(lane) && { needsWorker }),
    }
  }

  #otherLanes(lane: string): readonly string[] {
    const { registry, store } = this.#parts
    if (store.isSharded) return []
    const lanes = registry.ofFunction(registry.names.parse(lane).fn)
    return lanes.filter((other) => other !== lane).slice(0, maxLanesCounted - 1)
  }

  /** False while the store may not have the workers that are there: of a lane, or of a gateway that has just begun. */
  #isCounted(lane: string): boolean {
    const { clock, registry } = this.#parts
    const beforeMs = clock.nowMs() - countedWithinMs
    if (this.#countsSinceMs > beforeMs || registry.numberOf(lane) === undefined) return false
    return (this.#fresh.get(lane) ?? -Infinity) <= beforeMs
  }

  #noteFresh(lane: string): void {
    const nowMs = this.#parts.clock.nowMs()
    for (const [other, sinceMs] of this.#fresh) {
      if (sinceMs > nowMs - countedWithinMs) break
      this.#fresh.delete(other)
    }
    this.#fresh.delete(lane)
    this.#fresh.set(lane, nowMs)
  }
}
