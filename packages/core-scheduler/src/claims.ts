import type { LaneRegistry } from './lane-registry.ts'
import type { Interest } from './interest.ts'
import type { Reservation } from './job.ts'
import type { Clock, LaneGroup, Observer, Store } from './ports.ts'
import type { Assignment, Claimant } from './requests.ts'
import { Stock, keptMs } from './stock.ts'
import { toStoreError } from './store-errors.ts'
import { TurnBatch } from './turn-batch.ts'

interface Parts {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Observer
  readonly registry: LaneRegistry
  readonly arm: () => void
  /** The worker has left before its job came. */
  readonly putBack: (assignment: Assignment) => void
  /** A job that was reserved ahead goes back to the front. */
  readonly giveBack: (job: Reservation) => void
  /** False where a job must not be reserved before its worker asks. */
  readonly mayClaimAhead: boolean
  /** A throttled queue may have room: wakes who waits for its jobs. */
  readonly roomAgain: (queue: string) => void
  /** Leaves out what consumers are given nothing from. */
  readonly unpaused: (groups: readonly LaneGroup[]) => readonly LaneGroup[]
}

/** Hands jobs out: workers that want the same share one call per turn, first come first served. */
export class Claims {
  readonly #parts: Parts
  readonly #batch: TurnBatch<Claimant>
  readonly #stock = new Stock()
  readonly #toRefill = new Map<string, Interest>()
  #stopWatchingStock: (() => void) | undefined
  readonly #roomTimers = new Map<string, () => void>()
  readonly #throttled = (queue: string, waitMs: number): void => this.#lookAgain(queue, waitMs)
  #stopped = false
  #handedOut = 0

  constructor(parts: Parts) {
    this.#parts = parts
    this.#batch = new TurnBatch(parts.arm, (_key, claimants) => {
      const [first] = claimants
      if (first) void this.#send(first.interest, claimants)
    })
  }

  /** Jobs handed out since the start. */
  get handedOut(): number {
    return this.#handedOut
  }

  stop(): void {
    this.#stopped = true
    for (const cancel of this.#roomTimers.values()) cancel()
    this.#roomTimers.clear()
    this.#stopWatchingStock?.()
    for (const job of this.#stock.drain()) this.#parts.giveBack(job)
  }

  add(claimant: Claimant): void {
    const { interest } = claimant
    if (this.#stopped || interest.idleKeys.length === 0) claimant.nothing()
    else if (!this.#serveFromStock(claimant)) this.#batch.add(interest.key, claimant)
  }

  flush(): void {
    this.#batch.flush()
    for (const interest of this.#toRefill.values()) void this.#send(interest, [])
    this.#toRefill.clear()
  }

  #serveFromStock(claimant: Claimant): boolean {
    const { interest } = claimant
    if (!this.#parts.mayClaimAhead || !interest.mayWait) return false
    const nowMs = this.#parts.clock.nowMs()
    const job = this.#stock.take(interest, nowMs)
    this.#watchStock()
    if (!job) return false
    this.#assign({ job, sinceMs: nowMs }, claimant)
    if (this.#stock.wanted(interest, nowMs) > 0) {
      this.#toRefill.set(interest.key, interest)
      this.#parts.arm()
    }
    return true
  }

  async #send(interest: Interest, all: readonly Claimant[]): Promise<void> {
    const claimants = all.filter((claimant) => !claimant.gone)
    if (this.#stopped) {
      for (const claimant of claimants) claimant.nothing()
      return
    }
    const { store, clock, registry } = this.#parts
    const ahead = this.#stock.wanted(interest, clock.nowMs())
    if (claimants.length + ahead === 0) return
    if (ahead > 0) this.#stock.coming(interest)
    try {
      const groups = interest.groups(registry)
      const jobs = await store.claim({
        by: interest.by,
        groups: interest.by === 'consumer' ? this.#parts.unpaused(groups) : groups,
        max: claimants.length,
        ahead,
        throttled: this.#throttled,
      })
      this.#handOut(interest, claimants, jobs, claimants.length + ahead)
    } catch (error) {
      const refusal = toStoreError(error)
      for (const claimant of claimants) claimant.refused(refusal)
    } finally {
      if (ahead > 0) this.#stock.arrived(interest)
    }
  }

  #handOut(
    interest: Interest,
    claimants: readonly Claimant[],
    jobs: readonly Reservation[],
    asked: number,
  ): void {
    const sinceMs = this.#parts.clock.nowMs()
    const left = claimants.filter((claimant) => !claimant.gone)
    const own = jobs.slice(0, claimants.length)
    const ahead = jobs.slice(claimants.length)
    for (const job of own) this.#assign({ job, sinceMs }, left.shift())
    for (const claimant of left) claimant.nothing()
    if (this.#stopped) for (const job of ahead) this.#parts.giveBack(job)
    else if (interest.mayWait) this.#stock.came(interest, ahead, jobs.length >= asked, sinceMs)
  }

  /** What was reserved ahead for workers that ask no more goes back in time. */
  #watchStock(): void {
    this.#stopWatchingStock ??= this.#parts.clock.after(keptMs, () => {
      this.#stopWatchingStock = undefined
      for (const job of this.#stock.overdue(this.#parts.clock.nowMs())) this.#parts.giveBack(job)
      if (!this.#stock.isEmpty) this.#watchStock()
    })
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
