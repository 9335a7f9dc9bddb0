import type { Ability, Assignment, IdleWorker, Subscription } from '@crossgear/core-scheduler'
import { noop } from '@crossgear/gearman-codec'
import type { ReplySlot } from '../net/reply-slots.ts'
import type { HandCounts } from '../ops/metrics/census.ts'
import { type AssignForm, GrabbedJob, HeldJob } from './grabbed-job.ts'
import type { Session } from './session.ts'

/** Functions that one connection can name, where the operator says nothing else. */
const defaultMaxFunctions = 1_000

/** Derived from the abilities, made anew when they change. */
interface Derived {
  readonly subscription: Subscription
  readonly byLane: ReadonlyMap<string, Ability>
}

/** The worker side of a connection: its abilities, its jobs, and whether it sleeps. */
export class WorkerSide implements IdleWorker {
  readonly #session: Session
  /** By name, the one to try first at the end. */
  #abilities = new Map<string, Ability>()
  #derived: Derived | undefined
  readonly #held = new Map<string, HeldJob>()
  readonly #outstayed = (held: HeldJob): void => this.#lose(held)
  /** The job that it last ended with an exception. */
  #lastException: string | undefined
  /** Its requests for jobs among what is being read. */
  #grabs: { readonly form: AssignForm; readonly slot: ReplySlot }[] = []
  /** It has ended a job with what is being read. */
  #hasEnded = false
  #asleep = false
  #sleptAs: Subscription | undefined

  constructor(session: Session) {
    this.#session = session
  }

  /** Its abilities, the one to try first at the front. */
  get functions(): readonly string[] {
    return [...this.#abilities.keys()].reverse()
  }

  get subscription(): Subscription {
    return this.#derive().subscription
  }

  /** The latest function is tried first. Without a lease a job is its while it is connected. */
  canDo(fn: string, leaseMs?: number): void {
    const { maxFunctions = defaultMaxFunctions } = this.#session.context.options
    if (this.#abilities.size >= maxFunctions && !this.#abilities.has(fn)) {
      this.#session.sendError('TOO_MANY_FUNCTIONS')
      return
    }
    const known = this.#abilities.delete(fn)
    this.#abilities.set(fn, leaseMs === undefined ? { fn } : { fn, leaseMs })
    this.#derived = undefined
    if (!known) this.#session.scheduler.countNamed(fn, 1)
  }

  /** Jobs of the function that it holds go to others. */
  cantDo(fn: string): void {
    if (!this.#abilities.delete(fn)) return
    this.#derived = undefined
    this.#session.scheduler.countNamed(fn, -1)
    for (const held of this.#held.values()) if (held.fn === fn) this.#lose(held)
  }

  reset(): void {
    for (const fn of this.functions) this.cantDo(fn)
  }

  grab(form: AssignForm): void {
    this.#removeIdle()
    this.#grabs.push({ form, slot: this.#session.connection.reserve() })
  }

  sleep(): void {
    this.#asleep = true
    this.#sleptAs = undefined
  }

  /**
   * All that has come for now is read. What it wants is worked out but once for all of it, for a
   * worker may name many functions. A sleeper whose abilities changed is to be found under the new ones.
   */
  turnOver(): void {
    const { scheduler } = this.#session
    for (const { form, slot } of this.#grabs.splice(0)) {
      new GrabbedJob(this.#session, form, slot, this.#hasEnded).ask()
    }
    this.#hasEnded = false
    if (!this.#asleep || this.#sleptAs === this.subscription) return
    this.#sleptAs = this.subscription
    scheduler.addIdle(this, true)
  }

  /** NOOP, once: to be woken again it has to say that it sleeps again. */
  wake(): void {
    this.#asleep = false
    this.#session.connection.sendAtHand(noop)
  }

  /** The ability under which a job of a lane was taken; none where it was given up since. */
  abilityFor(lane: string): Ability | undefined {
    const { byLane } = this.#derive()
    return byLane.get(lane) ?? byLane.get(this.#session.scheduler.registry.names.parse(lane).fn)
  }

  /** A job of this node's that it is given. Its lease begins now. */
  hold(handle: string, assignment: Assignment, ability: Ability): void {
    this.keep(new HeldJob(handle, assignment, ability, this.#outstayed))
    if (this.#session.context.options.roundRobin) this.#tryLast(ability.fn)
  }

  /** A job stays in its hands as long as its lease lasts. */
  keep(held: HeldJob): void {
    this.#held.set(held.handle, held)
    if (held.leaseMs === undefined) return
    this.#session.scheduler.leases.start(held, held.leaseMs, held.assignment.sinceMs)
  }

  /** Counts it for each function: busy with a job of it, or idle where it holds none at all. */
  countInto(hands: HandCounts): void {
    const { names } = this.#session.scheduler.registry
    if (this.#held.size === 0) {
      const functions = new Set(this.functions.map((name) => names.parse(name).fn))
      for (const fn of functions) hands.add(fn, 'idle')
      return
    }
    const busy = [...this.#held.values()].map(({ assignment }) => assignment.job.lane)
    for (const fn of new Set(busy.map((lane) => names.parse(lane).fn))) hands.add(fn, 'busy')
  }

  held(handle: string): HeldJob | undefined {
    return this.#held.get(handle)
  }

  /** Takes a job out of its hands, to be settled. */
  letGo(handle: string): HeldJob | undefined {
    const held = this.#held.get(handle)
    if (!held) return undefined
    this.#drop(held)
    this.#hasEnded = true
    return held
  }

  /** The job was ended by an operator: what the worker says of it is answered so at once. */
  cancelled(handle: string): void {
    const held = this.#held.get(handle)
    if (held) this.#lose(held)
  }

  /** Its next word on the job may be that it failed as well. */
  threw(handle: string): void {
    this.#lastException = handle
  }

  /** True once for the job that it last ended with an exception. */
  hasThrown(handle: string): boolean {
    if (this.#lastException !== handle || this.#held.has(handle)) return false
    this.#lastException = undefined
    return true
  }

  /** The connection is gone: what it held goes to others. */
  leave(): void {
    this.#removeIdle()
    for (const fn of this.#abilities.keys()) this.#session.scheduler.countNamed(fn, -1)
    this.#abilities.clear()
    for (const held of this.#held.values()) this.#lose(held)
  }

  /** The job goes to others. */
  #lose(held: HeldJob): void {
    this.#drop(held)
    this.#session.scheduler.release(held.assignment, true)
  }

  #drop(held: HeldJob): void {
    this.#held.delete(held.handle)
    if (held.leaseMs !== undefined) this.#session.scheduler.leases.stop(held, held.leaseMs)
  }

  #tryLast(fn: string): void {
    const ability = this.#abilities.get(fn)
    if (!ability || this.#abilities.size < 2) return
    this.#abilities.delete(fn)
    this.#abilities = new Map([[fn, ability], ...this.#abilities])
    this.#derived = undefined
  }

  #derive(): Derived {
    if (this.#derived) return this.#derived
    const { scheduler } = this.#session
    const abilities = [...this.#abilities.values()].reverse()
    const { names } = scheduler.registry
    const byLane = new Map(abilities.map((ability) => [names.canonical(ability.fn), ability]))
    this.#derived = { subscription: scheduler.namedSubscription(abilities), byLane }
    return this.#derived
  }

  #removeIdle(): void {
    if (!this.#asleep) return
    this.#asleep = false
    this.#session.scheduler.removeIdle(this)
  }
}
