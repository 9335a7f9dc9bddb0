import type { Ability, Assignment, IdleWorker, Subscription } from '@crossgear/core-scheduler'
import { noop } from '@crossgear/gearman-codec'
import type { HandCounts } from '../net/census.ts'
import { type AssignForm, type Grab, GrabbedJob, type Grabber, HeldJob } from './grabbed-job.ts'
import type { SideSession } from './side-session.ts'

/** Default of the most functions per connection. */
const defaultMaxFunctions = 65_536

/** Memory of a function that a worker names: in its subscription, among the idle workers, the counts and the lanes. */
function memoryOf(fn: string): number {
  return 8 * fn.length + 2_048
}

/** Derived from the abilities; rebuilt when they change. */
interface Derived {
  readonly subscription: Subscription
  readonly byLane: ReadonlyMap<string, Ability>
  /** By function, its place in the subscription. */
  readonly places: ReadonlyMap<string, number>
}

/** The worker side of a connection: its abilities, its jobs, and if it sleeps. */
export class WorkerSide implements IdleWorker, Grabber {
  readonly #session: SideSession
  /** By name, the one to try first at the end. */
  #abilities = new Map<string, Ability>()
  #derived: Derived | undefined
  readonly #held = new Map<string, HeldJob>()
  readonly #leaseExpired = (held: HeldJob): void => this.#lose(held)
  /** The job that it last ended with an exception. */
  #lastException: string | undefined
  /** Job requests among the bytes just read. */
  #grabs: Grab[] = []
  /** Job requests that are not answered, the oldest first. */
  readonly #asked = new Set<GrabbedJob>()
  /** Errors that the worker may take for answers to its next job requests. */
  #unasked = 0
  /** True if it ended a job among the bytes just read. */
  #hasEnded = false
  #asleep = false
  #sleptAs: Subscription | undefined

  constructor(session: SideSession) {
    this.#session = session
  }

  /** The abilities of the worker, the one to try first at the front. */
  get functions(): readonly string[] {
    const named = [...this.#abilities.keys()].reverse()
    const places = this.#derived?.subscription.turns?.places
    return places ? places.map((place) => named[place] ?? '') : named
  }

  get subscription(): Subscription {
    return this.#derive().subscription
  }

  /**
   * The latest function is tried first. Without a lease time it holds jobs while connected. One too many is counted and
   * logged alone: see {@link SideSession.rejected}.
   */
  canDo(fn: string, leaseMs?: number): void {
    const { maxFunctions = defaultMaxFunctions } = this.#session.context.options
    const { connection } = this.#session
    const isNew = !this.#abilities.has(fn)
    if (isNew && (this.#abilities.size >= maxFunctions || !connection.hasRoomFor(memoryOf(fn)))) {
      this.#session.rejected('too_many_functions')
      return
    }
    if (isNew) connection.keepsNames(memoryOf(fn))
    this.#changeAbilities()
    const known = this.#abilities.delete(fn)
    this.#abilities.set(fn, leaseMs === undefined ? { fn } : { fn, leaseMs })
    if (!known) this.#session.scheduler.countNamed(fn, 1)
  }

  /** The jobs of the function are requeued. */
  cantDo(fn: string): void {
    if (!this.#abilities.has(fn)) return
    this.#changeAbilities()
    this.#abilities.delete(fn)
    this.#session.connection.keepsNames(-memoryOf(fn))
    this.#session.scheduler.countNamed(fn, -1)
    this.#loseAll([...this.#held.values()].filter((held) => held.fn === fn))
  }

  reset(): void {
    for (const fn of this.functions) this.cantDo(fn)
  }

  grab(form: AssignForm): void {
    this.#removeIdle()
    if (this.#session.connection.hasClosed) return
    this.#grabs.push({ form, slot: this.#session.connection.reserve() })
  }

  /**
   * As in gearmand, its jobs have all the time that they need from now on. It waits for no answer to what it asked before: an
   * ERROR that it did not ask for may have been that to it, and the job dropped that came behind.
   */
  sleep(): void {
    for (const request of this.#asked) request.withdraw()
    for (const held of this.#held.values()) if (held.isMistaken) this.#lose(held, false)
    for (const held of this.#held.values()) {
      if (held.leaseMs === undefined || held.isTimed) continue
      this.#session.scheduler.leases.stop(held, held.leaseMs)
      this.#session.scheduler.liftDeadline(held.assignment)
      held.leaseMs = undefined
    }
    this.#asleep = true
    this.#sleptAs = undefined
  }

  /**
   * Called when all available bytes were read, to work out its abilities once for all of them: a
   * worker may name many functions. A sleeper with new abilities is found under the new ones.
   */
  turnOver(): void {
    const { scheduler } = this.#session
    for (const grab of this.#grabs.splice(0)) {
      const request = new GrabbedJob(this.#session, this, grab, this.#hasEnded)
      this.#asked.add(request)
      if (this.#unasked > 0) {
        this.#unasked -= 1
        request.isMistaken = true
      }
      request.ask()
    }
    this.#hasEnded = false
    if (!this.#asleep || this.#sleptAs === this.subscription) return
    this.#sleptAs = this.subscription
    scheduler.addIdle(this, true)
  }

  /** NOOP, once: to be woken again it has to send PRE_SLEEP again. */
  wake(): void {
    this.#asleep = false
    this.#session.connection.sendAtHand(noop)
  }

  abilityFor(lane: string): Ability | undefined {
    const { byLane } = this.#derive()
    return byLane.get(lane) ?? byLane.get(this.#session.scheduler.registry.names.parse(lane).fn)
  }

  /** An ERROR leaves that it did not ask for. */
  mayMistake(): void {
    const next = [...this.#asked].find(({ isMistaken }) => !isMistaken)
    if (next) next.isMistaken = true
    else this.#unasked = 1
  }

  answered(request: GrabbedJob): void {
    this.#asked.delete(request)
  }

  hold(handle: string, assignment: Assignment, ability: Ability, isMistaken: boolean): void {
    this.keep(new HeldJob(handle, assignment, ability, this.#leaseExpired, isMistaken))
    if (this.#session.context.options.roundRobin) this.#tryLast(ability.fn)
  }

  /** The worker keeps a job as long as its lease lasts. */
  keep(held: HeldJob): void {
    this.#held.set(held.handle, held)
    if (held.leaseMs === undefined) return
    this.#session.scheduler.leases.start(held, held.leaseMs, held.assignment.sinceMs)
  }

  /** Counts it for each function: busy with a job of it, or idle if it holds none at all. */
  countInto(hands: HandCounts): void {
    const { names } = this.#session.scheduler.registry
    if (this.#held.size === 0) {
      const functions = new Set(Array.from(this.#abilities.keys(), (name) => names.parse(name).fn))
      for (const fn of functions) hands.add(fn, 'idle')
      return
    }
    const busy = [...this.#held.values()].map(({ assignment }) => assignment.job.lane)
    for (const fn of new Set(busy.map((lane) => names.parse(lane).fn))) hands.add(fn, 'busy')
  }

  /** The jobs of the worker, the oldest first. */
  get jobs(): readonly Assignment[] {
    return Array.from(this.#held.values(), ({ assignment }) => assignment)
  }

  /** A job that it says something of: it has not dropped it. */
  held(handle: string): HeldJob | undefined {
    const held = this.#held.get(handle)
    if (held) held.isMistaken = false
    return held
  }

  /** Takes a job from it, to be settled. */
  letGo(handle: string): HeldJob | undefined {
    const held = this.#held.get(handle)
    if (!held) return undefined
    this.#drop(held)
    this.#hasEnded = true
    return held
  }

  /** An operator cancelled the job: its outcome is refused at once. */
  cancelled(handle: string): void {
    const held = this.#held.get(handle)
    if (held) this.#lose(held)
  }

  /** The worker may still send WORK_FAIL for the job. */
  threw(handle: string): void {
    this.#lastException = handle
  }

  /** True once for the job that it last ended with an exception. */
  hasThrown(handle: string): boolean {
    if (this.#lastException !== handle || this.#held.has(handle)) return false
    this.#lastException = undefined
    return true
  }

  /** The connection ended, or is about to: its jobs are requeued, and it gets no more. */
  leave(): void {
    this.#removeIdle()
    for (const fn of this.#abilities.keys()) this.#session.scheduler.countNamed(fn, -1)
    this.#abilities.clear()
    this.#derived = undefined
    this.#loseAll([...this.#held.values()])
  }

  /** The one that it got last comes first, as in gearmand. */
  #loseAll(jobs: readonly HeldJob[]): void {
    for (const held of jobs.toReversed()) this.#lose(held)
  }

  /** The job is requeued. */
  #lose(held: HeldJob, isLoss = true): void {
    this.#drop(held)
    this.#session.scheduler.release(held.assignment, isLoss)
  }

  #drop(held: HeldJob): void {
    this.#held.delete(held.handle)
    if (held.leaseMs !== undefined) this.#session.scheduler.leases.stop(held, held.leaseMs)
  }

  #tryLast(fn: string): void {
    const ability = this.#abilities.get(fn)
    if (!ability || this.#abilities.size < 2) return
    const { subscription, places } = this.#derive()
    if (subscription.turns) {
      subscription.turns.passOn(places.get(fn) ?? 0)
      return
    }
    this.#abilities.delete(fn)
    this.#abilities = new Map([[fn, ability], ...this.#abilities])
    this.#derived = undefined
  }

  /** The abilities change: whose turn it is with them stays. */
  #changeAbilities(): void {
    const { turns } = this.#derived?.subscription ?? {}
    if (turns) {
      const named = [...this.#abilities].reverse()
      const inOrder = turns.places.flatMap((place) => named.slice(place, place + 1))
      this.#abilities = new Map(inOrder.reverse())
    }
    this.#derived = undefined
  }

  #derive(): Derived {
    if (this.#derived) return this.#derived
    const { scheduler, context } = this.#session
    const abilities = [...this.#abilities.values()].reverse()
    const { names } = scheduler.registry
    const byLane = new Map(abilities.map((ability) => [names.canonical(ability.fn), ability]))
    const places = new Map(abilities.map(({ fn }, place) => [fn, place]))
    const subscription = scheduler.namedSubscription(abilities, context.options.roundRobin)
    this.#derived = { subscription, byLane, places }
    return this.#derived
  }

  #removeIdle(): void {
    if (!this.#asleep) return
    this.#asleep = false
    this.#session.scheduler.removeIdle(this)
  }
}
