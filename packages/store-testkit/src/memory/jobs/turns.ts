import { defaultLevel, functionLimit, maxTurns, type Throttle } from '@crossgear/core-scheduler'
import type { MemoryJob } from '../memory-job.ts'
import { farMs, type MemoryLane } from '../memory-lane.ts'
import type { MemoryWorld } from '../memory-world.ts'

/** Turns of a lane's jobs by the values of a key, as `lua/lib/turns.lua` has them. */
export class Turns {
  readonly #world: MemoryWorld
  readonly #lane: MemoryLane
  readonly #limits: Throttle

  constructor(world: MemoryWorld, lane: MemoryLane, limits: Throttle) {
    this.#world = world
    this.#lane = lane
    this.#limits = limits
  }

  /** A job has come, or is due. True if it is to be queued now; else it waits for its turn. */
  arrive(job: MemoryJob): boolean {
    const { turns } = this.#lane
    if (!turns.has(valueOf(job)) && turns.size >= maxTurns) this.look()
    if (!turns.has(valueOf(job)) && turns.size >= maxTurns && job.terms) {
      job.terms = { ...job.terms, turn: '' }
    }
    const value = valueOf(job)
    const holder = this.#lane.turns.get(value)
    if (holder === job.id) return true
    if (!this.#isInLine(holder) && this.#next(value) === undefined && this.#mayStart(value)) {
      this.#lane.turns.set(value, job.id)
      return true
    }
    this.#wait(job)
    if (!this.#isInLine(holder)) this.#give(value)
    return false
  }

  /** A job was taken from a queue. True if it may not be leased now: then it waits for its turn. */
  mustWait(job: MemoryJob): boolean {
    const value = valueOf(job)
    const holder = this.#lane.turns.get(value)
    const isAnothers = holder !== job.id && this.#isInLine(holder)
    if (!isAnothers && this.#mayStart(value)) return false
    this.#wait(job)
    if (!isAnothers) this.#give(value)
    return true
  }

  /** A job was leased: it counts for the rate of its value. */
  start(job: MemoryJob): void {
    const { rate } = this.#limits
    if (!rate) return
    const starts = [this.#world.nowMs(), ...this.#starts(valueOf(job))]
    this.#world.starts.set(this.#rateKey(valueOf(job)), starts.slice(0, rate.jobs))
  }

  /** A job has left the line. */
  pass(job: MemoryJob): void {
    const holder = this.#lane.turns.get(valueOf(job))
    if (holder === job.id || !this.#isInLine(holder)) this.#give(valueOf(job))
  }

  /** A lease has ended. True if the next job of its value is in line now. */
  finish(job: MemoryJob): boolean {
    const value = valueOf(job)
    if (this.#isInLine(this.#lane.turns.get(value))) return false
    const isBack = job.status === 'idle' && !this.#lane.scheduled.has(job.id)
    if (!isBack) return this.#give(value)
    this.#lane.turns.set(value, job.id)
    return false
  }

  /** Passes on turns of jobs that were taken from the line otherwise. Returns how many are in line now. */
  look(): number {
    const lost = [...this.#lane.turns].filter(([, holder]) => !this.#isInLine(holder))
    return lost.filter(([value]) => this.#give(value)).length
  }

  #give(value: string): boolean {
    const { turns, scheduled } = this.#lane
    turns.set(value, undefined)
    if (!this.#hasRoom(value)) return false
    const next = this.#next(value)
    if (!next) {
      if (this.#running(value) === 0) turns.delete(value)
      return false
    }
    turns.set(value, next.id)
    const waitMs = this.#rateWaitMs(value)
    if (waitMs > 0) {
      scheduled.set(next.id, this.#world.nowMs() + waitMs)
      return false
    }
    scheduled.delete(next.id)
    this.#world.arrive(next)
    this.#lane.enqueue(next)
    return true
  }

  /** Lets a job wait behind those of its value that come before it. */
  #wait(job: MemoryJob): void {
    const { scheduled, waitingTurns } = this.#lane
    scheduled.set(job.id, farMs)
    const line = waitingTurns.get(valueOf(job)) ?? { ids: [], first: 0 }
    waitingTurns.set(valueOf(job), line)
    let place = line.ids.length
    for (; place > line.first; place -= 1) {
      const before = this.#lane.job(line.ids[place - 1] ?? 0, this.#world.nowMs())
      if (before && !comesBefore(job, before)) break
    }
    line.ids.splice(place, 0, job.id)
  }

  /** The waiting job of a value that comes next. */
  #next(value: string): MemoryJob | undefined {
    const line = this.#lane.waitingTurns.get(value)
    while (line && line.first < line.ids.length) {
      const id = line.ids[line.first] ?? 0
      const job = this.#lane.job(id, this.#world.nowMs())
      if (job && this.#lane.scheduled.get(id) === farMs) return job
      line.first += 1
    }
    this.#lane.waitingTurns.delete(value)
    return undefined
  }

  #isInLine(id: number | undefined): boolean {
    const job = id === undefined ? undefined : this.#lane.job(id, this.#world.nowMs())
    return job?.status === 'idle' && (this.#lane.scheduled.get(job.id) ?? 0) < farMs
  }

  #mayStart(value: string): boolean {
    return this.#hasRoom(value) && this.#rateWaitMs(value) === 0
  }

  #hasRoom(value: string): boolean {
    return this.#running(value) < (this.#limits.concurrency ?? Infinity)
  }

  #running(value: string): number {
    if (this.#limits.concurrency === undefined) return 0
    const nowMs = this.#world.nowMs()
    const jobs = [...this.#lane.busy.keys()].map((id) => this.#lane.job(id, nowMs))
    return jobs.filter((job) => job && valueOf(job) === value).length
  }

  #rateWaitMs(value: string): number {
    const { rate } = this.#limits
    const startMs = rate && this.#starts(value)[rate.jobs - 1]
    return startMs === undefined || !rate
      ? 0
      : Math.max(0, startMs + rate.perMs - this.#world.nowMs())
  }

  #starts(value: string): readonly number[] {
    return this.#world.starts.get(this.#rateKey(value)) ?? []
  }

  #rateKey(value: string): string {
    return `${this.#lane.lane}\0${value}`
  }
}

/** The turns of a lane; undefined where its jobs take none. */
export function turnsOf(world: MemoryWorld, lane: MemoryLane): Turns | undefined {
  const { throttles } = world.options
  if (!throttles || throttles.size === 0) return undefined
  const limits = throttles.get(functionLimit(world.names.parse(lane.lane).fn))
  return limits?.isPerTurn ? new Turns(world, lane, limits) : undefined
}

function comesBefore(one: MemoryJob, other: MemoryJob): boolean {
  const higher = (other.level ?? defaultLevel) - (one.level ?? defaultLevel)
  const older = (one.enqueuedAtMs ?? 0) - (other.enqueuedAtMs ?? 0)
  return (higher || older || (one.arrival ?? 0) - (other.arrival ?? 0)) < 0
}

function valueOf({ terms }: MemoryJob): string {
  return terms?.turn ?? ''
}
