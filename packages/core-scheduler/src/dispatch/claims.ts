import type { LaneRegistry } from '../model/lane-registry.ts'
import type { InHand } from './in-hand.ts'
import type { Interest } from '../model/interest.ts'
import type { Reservation } from '../model/job.ts'
import { KnownEmpty } from './known-empty.ts'
import type { Clock, LaneGroup, Observer, Store } from '../store/ports.ts'
import type { Assignment, Claimant, Delivery } from '../model/requests.ts'
import { Stock, keptMs } from './stock.ts'
import type { Steps } from './steps.ts'
import type { Stirs } from './stirs.ts'
import { toStoreError } from '../store/store-errors.ts'
import type { WorkerLimits } from './worker-limits.ts'
import { Gathered } from '../intake/gathered.ts'

interface Parts {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Observer
  readonly registry: LaneRegistry
  readonly inHand: InHand
  readonly added: () => void
  /** The worker has left before its job came. */
  readonly putBack: (assignment: Assignment) => void
  /** A job that was reserved ahead goes back to the front. */
  readonly giveBack: (job: Reservation) => void
  /** False where a job must not be reserved before its worker asks. */
  readonly mayClaimAhead: boolean
  readonly steps: Steps
  readonly stirs: Stirs
  /** A consumer has a job. */
  readonly handedOut: (job: Reservation) => void
  /** Whether the store tells this node of all that comes for an interest. */
  readonly isHeard: (interest: Interest) => boolean
  readonly workerLimits: WorkerLimits
  /** A throttled queue may have room: wakes who waits for its jobs. */
  readonly roomAgain: (queue: string) => void
  /** Leaves out what consumers are given nothing from. */
  readonly unpaused: (groups: readonly LaneGroup[]) => readonly LaneGroup[]
}

/**
 * What a claim brought after so long a time may be another's by now: this process may have stood still,
 * and other nodes have taken it for dead. It is not handed out, milliseconds.
 */
const trustedMs = 3_000
/** Jobs that are reserved ahead for workers that are being woken, in one call. */
const mostAnticipated = 8

/** Hands jobs out: workers that want the same share one call, first come first served. */
export class Claims {
  readonly #parts: Parts
  readonly #batch: Gathered<Claimant>
  readonly #stock = new Stock()
  readonly #knownEmpty = new KnownEmpty()
  /** Who waits for what is reserved ahead with a call that is under way, by interest. */
  readonly #expecting = new Map<string, Claimant[]>()
  /** Interests to be served ahead at the end of this turn, and how many jobs at least. */
  readonly #toRefill = new Map<string, { readonly interest: Interest; readonly least: number }>()
  #stopWatchingStock: (() => void) | undefined
  readonly #roomTimers = new Map<string, () => void>()
  readonly #throttled = (queue: string, waitMs: number): void => this.#lookAgain(queue, waitMs)
  #stopped = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#batch = new Gathered(parts.added, (_key, claimants) => {
      const [first] = claimants
      if (first) void this.#send(first.interest, claimants)
    })
  }

  stop(): void {
    this.#stopped = true
    for (const cancel of this.#roomTimers.values()) cancel()
    this.#roomTimers.clear()
    this.#stopWatchingStock?.()
    this.#giveBack(this.#stock.drain())
  }

  add(claimant: Claimant): void {
    const { interest } = claimant
    if (this.#stopped || interest.idleKeys.length === 0) claimant.nothing()
    else if (this.#serveFromStock(claimant) || this.#expect(claimant)) return
    else if (claimant.goesOn && this.isKnownEmpty(interest)) claimant.nothing()
    else this.#batch.add(this.#batchKey(claimant), claimant)
  }

  /** Whether the store would have nothing. */
  isKnownEmpty(interest: Interest): boolean {
    const { clock, stirs, isHeard } = this.#parts
    return (
      this.#knownEmpty.holds(interest, stirs.of(interest), clock.nowMs()) &&
      this.#stock.sizeFor(interest) === 0 &&
      isHeard(interest)
    )
  }

  /**
   * Jobs are on their way to the store, and a worker of this interest will be woken for them: what it will
   * ask for is reserved with them, if workers of its kind ask without delay. Says whether it is.
   */
  anticipate(interest: Interest, jobs: number): boolean {
    const isLively = this.#stock.isLively(interest, this.#parts.clock.nowMs())
    if (this.#stopped || !interest.mayWait || !this.#parts.mayClaimAhead || !isLively) return false
    this.#refill(interest, Math.min(jobs, mostAnticipated))
    return true
  }

  flush(): void {
    this.#batch.flush()
    for (const { interest, least } of this.#toRefill.values()) void this.#send(interest, [], least)
    this.#toRefill.clear()
  }

  /** Workers that want the same share a call, but where each has a limit of its own. */
  #batchKey(claimant: Claimant): string {
    const { interest } = claimant
    if (!this.#parts.workerLimits.concerns(interest)) return interest.key
    return `${interest.key}\0${this.#workerOf(claimant)}`
  }

  /** Names that only this node knows must not be those of another node's workers. */
  #workerOf({ worker }: Claimant): string {
    if (!worker) return ''
    return worker.isShared ? `w${worker.name}` : `c${this.#parts.store.node}-${worker.name}`
  }

  #serveFromStock(claimant: Claimant): boolean {
    const { interest } = claimant
    if (!this.#parts.mayClaimAhead || !interest.mayWait) return false
    const nowMs = this.#parts.clock.nowMs()
    const job = this.#stock.take(interest, nowMs)
    this.#watchStock()
    if (!job) return false
    this.#assign({ job, sinceMs: nowMs }, claimant)
    if (this.#stock.wanted(interest, nowMs) > 0) this.#refill(interest, 0)
    return true
  }

  /** A job that is on its way for such workers need not be asked for again. */
  #expect(claimant: Claimant): boolean {
    const { interest } = claimant
    const expecting = this.#expecting.get(interest.key)
    if (!interest.mayWait) return false
    if (this.#stock.comingFor(interest) <= (expecting?.length ?? 0)) return false
    if (expecting) expecting.push(claimant)
    else this.#expecting.set(interest.key, [claimant])
    return true
  }

  /** What was reserved ahead has come, or not. */
  #arrived(interest: Interest, ahead: number): void {
    this.#stock.arrived(interest, ahead)
    const expecting = this.#expecting.get(interest.key)
    this.#expecting.delete(interest.key)
    for (const claimant of expecting ?? []) if (!claimant.gone) this.add(claimant)
  }

  #refill(interest: Interest, least: number): void {
    this.#toRefill.set(interest.key, { interest, least })
    this.#parts.added()
  }

  async #send(interest: Interest, all: readonly Claimant[], least = 0): Promise<void> {
    const claimants = all.filter((claimant) => !claimant.gone)
    if (this.#stopped) {
      for (const claimant of claimants) claimant.nothing()
      return
    }
    const { steps, clock, registry, stirs, isHeard, inHand } = this.#parts
    const wanted = this.#stock.wanted(interest, clock.nowMs())
    const ahead = Math.max(wanted, least - this.#stock.sizeFor(interest))
    if (claimants.length + ahead === 0) return
    if (ahead > 0) this.#stock.coming(interest, ahead)
    const stirsBefore = isHeard(interest) ? stirs.byOthers(interest) : undefined
    const left = { isEmpty: false }
    const sentMs = clock.nowMs()
    inHand.claiming()
    try {
      const groups = interest.groups(registry)
      const [first] = claimants
      const isLimited = first !== undefined && this.#parts.workerLimits.concerns(interest)
      const jobs = await steps.claim({
        ...(isLimited && { worker: this.#workerOf(first) }),
        by: interest.by,
        access: interest.access,
        groups: interest.by === 'consumer' ? this.#parts.unpaused(groups) : groups,
        byLevel: interest.byLevel ?? false,
        max: claimants.length,
        ahead,
        throttled: this.#throttled,
        emptied: () => (left.isEmpty = true),
      })
      if (!this.#mayHandOut(sentMs)) {
        this.#takeBack(claimants, jobs)
        return
      }
      // Jobs of this node that were answered meanwhile had reached the store before the claim.
      if (left.isEmpty && stirsBefore === stirs.byOthers(interest)) {
        this.#knownEmpty.note(interest, stirs.of(interest), clock.nowMs())
        this.#watchStock()
      }
      this.#handOut(interest, claimants, jobs, !left.isEmpty)
    } catch (error) {
      const refusal = toStoreError(error)
      for (const claimant of claimants) claimant.refused(refusal)
    } finally {
      if (ahead > 0) this.#arrived(interest, ahead)
      inHand.claimed()
    }
  }

  #mayHandOut(sentMs: number): boolean {
    return !this.#stopped && this.#parts.clock.nowMs() - sentMs <= trustedMs
  }

  /** Those that still are this node's go back to the front; returned by their token, others are left alone. */
  #takeBack(claimants: readonly Claimant[], jobs: readonly Reservation[]): void {
    this.#giveBack(jobs)
    for (const claimant of claimants) if (!claimant.gone) claimant.nothing()
  }

  #handOut(
    interest: Interest,
    claimants: readonly Claimant[],
    jobs: readonly Reservation[],
    hasMore: boolean,
  ): void {
    const sinceMs = this.#parts.clock.nowMs()
    if (interest.by === 'consumer') for (const job of jobs) this.#parts.handedOut(job)
    const left = claimants.filter((claimant) => !claimant.gone)
    const own = jobs.slice(0, claimants.length)
    const ahead = jobs.slice(claimants.length)
    for (const job of own) this.#assign({ job, sinceMs }, left.shift())
    for (const claimant of left) claimant.nothing()
    if (interest.mayWait) {
      this.#stock.came(interest, own.length, ahead, hasMore, sinceMs)
      this.#watchStock()
    }
  }

  /** Until the store has them back they are in hand: a gateway that stops waits for it. */
  #giveBack(jobs: readonly Reservation[]): void {
    const sinceMs = this.#parts.clock.nowMs()
    for (const job of jobs) {
      this.#parts.inHand.add({ job, sinceMs })
      this.#parts.giveBack(job)
    }
  }

  /** What was reserved ahead for workers that ask no more goes back in time. */
  #watchStock(): void {
    this.#stopWatchingStock ??= this.#parts.clock.after(keptMs, () => {
      this.#stopWatchingStock = undefined
      const nowMs = this.#parts.clock.nowMs()
      this.#giveBack(this.#stock.overdue(nowMs))
      this.#knownEmpty.prune(nowMs)
      if (!this.#stock.isEmpty || !this.#knownEmpty.isEmpty) this.#watchStock()
    })
  }

  /** Wakes workers that wait for a queue whose room comes with time. */
  #lookAgain(queue: string, waitMs: number): void {
    if (this.#stopped || waitMs === 0 || this.#roomTimers.has(queue)) return
    const { clock, roomAgain } = this.#parts
    const cancel = clock.after(waitMs, () => {
      this.#roomTimers.delete(queue)
      roomAgain(queue)
    })
    this.#roomTimers.set(queue, cancel)
  }

  #assign(assignment: Delivery, claimant: Claimant | undefined): void {
    this.#parts.inHand.add(assignment)
    if (!claimant) {
      this.#parts.putBack(assignment)
      return
    }
    const { job } = assignment
    this.#parts.observer.assigned(job)
    claimant.assigned(assignment)
  }
}
