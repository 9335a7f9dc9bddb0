import type { Ability, Assignment, IdleWorker, Interest } from '@crossgear/core-scheduler'
import { NOOP } from '@crossgear/gearman-codec'
import { GrabbedJob, type AssignForm } from './grabbed-job.ts'
import type { Session } from './session.ts'

/** A job in this worker's hands. */
export interface HeldJob {
  readonly assignment: Assignment
  /** The ability under which it was taken. */
  readonly fn: string
}

/** What follows from the abilities, made anew when they change. */
interface Derived {
  readonly interest: Interest
  readonly byLane: ReadonlyMap<string, Ability>
}

/** What a connection is as a worker: what it can do, what it holds, whether it sleeps. */
export class WorkerSide implements IdleWorker {
  readonly #session: Session
  /** By name, the one to try first at the end. */
  #abilities = new Map<string, Ability>()
  #derived: Derived | undefined
  readonly #held = new Map<string, HeldJob>()
  #asleep = false
  #sleptAs: Interest | undefined

  constructor(session: Session) {
    this.#session = session
  }

  /** What it can do, the one to try first at the front. */
  get functions(): readonly string[] {
    return [...this.#abilities.keys()].reverse()
  }

  get interest(): Interest {
    return this.#derive().interest
  }

  /** The latest function is tried first. Without a lease a job is its while it is connected. */
  canDo(fn: string, leaseMs?: number): void {
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
    for (const [handle, held] of this.#held) {
      if (held.fn === fn) this.#lose(handle, held)
    }
  }

  reset(): void {
    for (const fn of this.functions) this.cantDo(fn)
  }

  grab(form: AssignForm): void {
    this.#rouse()
    this.#session.scheduler.claim(new GrabbedJob(this.#session, form, this.#session.peer.reserve()))
  }

  sleep(): void {
    this.#asleep = true
    this.#sleptAs = this.interest
    this.#session.scheduler.sleep(this, true)
  }

  /** A sleeper whose abilities changed is to be found under the new ones. */
  turnOver(): void {
    if (this.#asleep && this.#sleptAs !== this.interest) this.sleep()
  }

  /** NOOP, once: to be woken again it has to say that it sleeps again. */
  wake(): void {
    this.#asleep = false
    this.#session.peer.send(NOOP)
  }

  /** The ability under which a job of a lane was taken; none where it was given up since. */
  abilityFor(lane: string): Ability | undefined {
    const { byLane } = this.#derive()
    return byLane.get(lane) ?? byLane.get(this.#session.scheduler.registry.names.parse(lane).fn)
  }

  hold(handle: string, held: HeldJob): void {
    this.#held.set(handle, held)
    if (this.#session.context.options.roundRobin) this.#tryLast(held.fn)
  }

  held(handle: string): HeldJob | undefined {
    return this.#held.get(handle)
  }

  /** Takes a job out of its hands, to be settled. */
  letGo(handle: string): HeldJob | undefined {
    const held = this.#held.get(handle)
    if (held) this.#held.delete(handle)
    return held
  }

  /** The connection is gone: what it held goes to others. */
  leave(): void {
    this.#rouse()
    for (const fn of this.#abilities.keys()) this.#session.scheduler.countNamed(fn, -1)
    this.#abilities.clear()
    for (const [handle, held] of this.#held) this.#lose(handle, held)
  }

  #lose(handle: string, { assignment }: HeldJob): void {
    this.#held.delete(handle)
    this.#session.scheduler.release(assignment, true)
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
    this.#derived = { interest: scheduler.namedInterest(abilities), byLane }
    return this.#derived
  }

  #rouse(): void {
    if (!this.#asleep) return
    this.#asleep = false
    this.#session.scheduler.rouse(this)
  }
}
