import type { LaneRegistry } from './lane-registry.ts'
import type { Clock, LaneGroup, Observer, Store } from './ports.ts'
import type { Assignment, Claimant } from './requests.ts'
import { toStoreError } from './store-errors.ts'
import { TurnBatch } from './turn-batch.ts'

interface Parts {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Observer
  readonly registry: LaneRegistry
  readonly arm: () => void
  readonly putBack: (assignment: Assignment) => void
  /** Leaves out what consumers are given nothing from. */
  /** A throttled queue may have room: wakes who waits for its jobs. */
  readonly roomAgain: (queue: string) => void
  readonly unpaused: (groups: readonly LaneGroup[]) => readonly LaneGroup[]
}

/** Hands jobs out: workers that want the same share one call per turn, first come first served. */
export class Claims {
  readonly #parts: Parts
  readonly #batch: TurnBatch<Claimant>
  readonly #roomTimers = new Map<string, () => void>()
  readonly #throttled = (queue: string, waitMs: number): void => this.#lookAgain(queue, waitMs)
  #stopped = false
  #handedOut = 0

  constructor(parts: Parts) {
    this.#parts = parts
    this.#batch = new TurnBatch(parts.arm, (_key, claimants) => void this.#send(claimants))
  }

  /** Jobs handed out since the start. */
  get handedOut(): number {
    return this.#handedOut
  }

  stop(): void {
    this.#stopped = true
    for (const cancel of this.#roomTimers.values()) cancel()
    this.#roomTimers.clear()
  }

  add(claimant: Claimant): void {
    if (this.#stopped || claimant.interest.idleKeys.length === 0) claimant.nothing()
    else this.#batch.add(claimant.interest.key, claimant)
  }

  flush(): void {
    this.#batch.flush()
  }

  async #send(all: readonly Claimant[]): Promise<void> {
    const claimants = all.filter((claimant) => !claimant.gone)
    const [first] = claimants
    if (!first) return
    if (this.#stopped) {
      for (const claimant of claimants) claimant.nothing()
      return
    }
    const { store, clock, registry } = this.#parts
    try {
      const { interest } = first
      const groups = interest.groups(registry)
      const jobs = await store.claim({
        by: interest.by,
        groups: interest.by === 'consumer' ? this.#parts.unpaused(groups) : groups,
        max: claimants.length,
        throttled: this.#throttled,
      })
      const sinceMs = clock.nowMs()
      const left = claimants.filter((claimant) => !claimant.gone)
      for (const job of jobs) this.#assign({ job, sinceMs }, left.shift())
      for (const claimant of left) claimant.nothing()
    } catch (error) {
      const refusal = toStoreError(error)
      for (const claimant of claimants) claimant.refused(refusal)
    }
  }

  /** Who waits for a queue whose rate is used up looks again when it is not. */
  #lookAgain(queue: string, waitMs: number): void {
    if (this.#stopped || waitMs === 0 || this.#roomTimers.has(queue)) return
    const { clock, roomAgain } = this.#parts
    const cancel = clock.after(waitMs, () => {
      this.#roomTimers.delete(queue)
      roomAgain(queue)
    })
    this.#roomTimers.set(queue, cancel)
  }

  #assign(assignment: Assignment, claimant: Claimant | undefined): void {
    this.#handedOut += 1
    if (!claimant) {
      this.#parts.putBack(assignment)
      return
    }
    const { job } = assignment
    this.#parts.observer.assigned(job.door, job.waitedMs)
    claimant.assigned(assignment)
  }
}
