import type { NodeContext } from '../node/node-context.ts'
import type { JobRef } from '../model/job.ts'
import type { JobSummary, LaneLimits, Replaced, Replacement } from '../store/admin-ports.ts'
import type { LaneSizes } from '../store/lane-ports.ts'
import type { Taken } from '../store/queue-ports.ts'
import { Part } from '../node/node-parts.ts'

/** Jobs ended per step while a lane is dropped: some 2 ms of the store's time. */
const clearedPerStep = 100
/** Jobs read per step of a list: some 2 ms of the store's time. */
const listedPerStep = 250

/** Operations on lanes and jobs for administrators, over all nodes. */
export class Administration extends Part<NodeContext> {
  /** Sizes of all lanes, this node's pending changes included. */
  async sizes(): Promise<readonly LaneSizes[]> {
    await this.#settled()
    return this.parts.store.lanes.sizes([...this.parts.registry.all()])
  }

  /** Registers a lane before it has jobs or workers. */
  async addLane(lane: string): Promise<void> {
    await this.parts.registrar.register(lane)
    await this.parts.store.lanes.keep(lane)
  }

  /**
   * Drops a lane with its queued jobs; their waiters get a failure. Refused while it has workers or
   * running jobs.
   */
  async dropLane(lane: string): Promise<'dropped' | 'unknown' | 'busy'> {
    const { store, registry, registrar, waiters, observer } = this.parts
    await this.#settled()
    if (registry.numberOf(lane) === undefined) return 'unknown'
    for (;;) {
      const piece = await store.admin.dropLane(lane, clearedPerStep)
      if (piece === 'busy') return 'busy'
      if (piece.ids.length > 0) observer.acted(lane, 'deleted', piece.ids.length)
      for (const id of piece.ids) waiters.notify({ lane, id }, { kind: 'fail' })
      if (piece.laneNumber === undefined) continue
      registrar.dropped(lane, piece.laneNumber)
      return 'dropped'
    }
  }

  /** Sets how many jobs a lane may hold; 0 is no limit. False for an unknown lane. */
  async setLimits(lane: string, limits: LaneLimits): Promise<boolean> {
    // A worker may just have named it.
    await this.parts.registrar.registered()
    if (this.parts.registry.numberOf(lane) === undefined) return false
    await this.parts.store.admin.setLimits(lane, limits)
    return true
  }

  /** The limits of lanes. */
  limits(lanes: readonly string[]): Promise<readonly LaneLimits[]> {
    return this.parts.store.admin.limits(lanes)
  }

  /** Lanes with limits. */
  async limited(): Promise<ReadonlyMap<string, LaneLimits>> {
    const lanes = [...this.parts.registry.all()]
    const limits = await this.limits(lanes)
    const found = new Map<string, LaneLimits>()
    for (const [at, lane] of lanes.entries()) {
      const of = limits[at]
      if (of && Object.values(of).some((most) => most > 0)) found.set(lane, of)
    }
    return found
  }

  /** Cancels a job that is queued or held by a gateway's worker. False for any other. `as`: cancelled. */
  async cancel(ref: JobRef, as: Taken = 'cancelled'): Promise<boolean> {
    const { store, observer, waiters } = this.parts
    const isTaken = await store.admin.cancel(ref.lane, ref.id, as)
    if (isTaken) {
      waiters.notify(ref, { kind: 'fail' })
      if (as !== 'withdrawn') observer.acted(ref.lane, as, 1)
    }
    return isTaken
  }

  /** Puts another job into the place of one that does not run: both, or neither. */
  async replace({ lane, id }: JobRef, job: Replacement): Promise<Replaced> {
    const replaced = await this.parts.store.admin.replace(lane, id, job)
    if (replaced.kind === 'replaced' && replaced.isRerun) {
      this.parts.observer.acted(lane, 'requeued', 1)
    }
    return replaced
  }

  /**
   * Lists at most `max` queued, scheduled and running jobs. Jobs that move meanwhile may be missing
   * or appear twice.
   */
  async listJobs(max: number): Promise<readonly JobSummary[]> {
    await this.#settled()
    const listed: JobSummary[] = []
    for (const lane of Array.from(this.parts.registry.all())) {
      for (let from = 0, more = true; more && listed.length < max; from += listedPerStep) {
        const page = await this.parts.store.admin.listJobs(lane, from, listedPerStep)
        listed.push(...page.jobs)
        more = page.more
      }
    }
    return listed.slice(0, max)
  }

  /** Settles when all pending changes of this node are on their way to the store. */
  async #settled(): Promise<void> {
    const { registrar, counts, steps } = this.parts
    await Promise.all([registrar.registered(), counts.published()])
    steps.flush()
  }
}
