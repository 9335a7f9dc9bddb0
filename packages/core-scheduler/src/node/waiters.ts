import type { JobEvent, JobRef } from '../model/job.ts'
import type { Waiter } from '../model/requests.ts'

/** Jobs per call that names their waiters to the store. */
const maxNamed = 500

interface Wait {
  readonly waiters: Set<Waiter>
  readonly sinceMs: number
  /** Round of polls in which it had its turn. */
  round: number
  /** Last progress announced, so that a poll finds only news. */
  progress?: string
  /** The job's end as its worker reported it, while the store may or may not have it. */
  pendingOutcome?: JobEvent
}

/** True for events that end the wait. */
export function isFinal(event: JobEvent): boolean {
  return event.kind === 'complete' || event.kind === 'exception' || event.kind === 'fail'
}

/** Waiting clients of this node, by job. */
export class Waiters {
  readonly #byLane = new Map<string, Map<number, Wait>>()
  readonly #rounds = new Map<string, number>()

  lanes(): Iterable<string> {
    return this.#byLane.keys()
  }

  hasLane(lane: string): boolean {
    return this.#byLane.has(lane)
  }

  has(lane: string, id: number): boolean {
    return this.#byLane.get(lane)?.has(id) ?? false
  }

  /** Number of waiters for each job, in parts of bounded size. */
  clients(): [lane: string, clients: ReadonlyMap<number, number>][] {
    return [...this.#byLane].flatMap(([lane, waits]) => {
      const counts = [...waits].map(([id, { waiters }]) => [id, waiters.size] as const)
      const parts: [string, ReadonlyMap<number, number>][] = []
      for (let at = 0; at < counts.length; at += maxNamed) {
        parts.push([lane, new Map(counts.slice(at, at + maxNamed))])
      }
      return parts
    })
  }

  add(lane: string, id: number, waiter: Waiter, nowMs: number): void {
    let waits = this.#byLane.get(lane)
    if (!waits) this.#byLane.set(lane, (waits = new Map<number, Wait>()))
    const wait = waits.get(id)
    if (wait) wait.waiters.add(waiter)
    else waits.set(id, { waiters: new Set([waiter]), sinceMs: nowMs, round: 0 })
  }

  remove(lane: string, id: number, waiter: Waiter): boolean {
    const wait = this.#byLane.get(lane)?.get(id)
    if (!wait?.waiters.delete(waiter)) return false
    if (wait.waiters.size === 0) this.#forget(lane, id)
    return true
  }

  /** Returns the ids of those jobs that it waited for, by lane. */
  removeAll(waiter: Waiter, refs: Iterable<JobRef>): ReadonlyMap<string, readonly number[]> {
    const byLane = new Map<string, number[]>()
    for (const { lane, id } of refs) {
      if (!this.remove(lane, id, waiter)) continue
      const ids = byLane.get(lane)
      if (ids) ids.push(id)
      else byLane.set(lane, [id])
    }
    return byLane
  }

  /** `other` takes the place of `waiter`, if that one still waits. */
  replace(lane: string, id: number, waiter: Waiter, other: Waiter): void {
    const waiters = this.#byLane.get(lane)?.get(id)?.waiters
    if (waiters?.delete(waiter)) waiters.add(other)
  }

  /** Sends an event to all waiters of the job; a final event ends their wait. */
  notify(ref: JobRef, event: JobEvent): void {
    const wait = this.#byLane.get(ref.lane)?.get(ref.id)
    if (!wait) return
    if (isFinal(event)) this.#forget(ref.lane, ref.id)
    else if (event.kind === 'status') wait.progress = progressOf(event.dividend, event.divisor)
    for (const waiter of Array.from(wait.waiters)) waiter.onEvent(ref, event)
  }

  /** A job's waiters that have much to read. */
  *behind({ lane, id }: JobRef): Iterable<Waiter> {
    for (const waiter of this.#byLane.get(lane)?.get(id)?.waiters ?? []) {
      if (waiter.isBehind) yield waiter
    }
  }

  /**
   * Keeps the supposed end of a job, which the store may or may not have taken, until the job is
   * gone.
   */
  setPendingOutcome(ref: JobRef, event: JobEvent): void {
    const wait = this.#byLane.get(ref.lane)?.get(ref.id)
    if (wait) wait.pendingOutcome = event
  }

  /** The job is gone: it ended as supposed, or failed. */
  giveUp(ref: JobRef): void {
    this.notify(ref, this.#byLane.get(ref.lane)?.get(ref.id)?.pendingOutcome ?? { kind: 'fail' })
  }

  /** The last progress of the job that was announced. */
  progress({ lane, id }: JobRef): string | undefined {
    return this.#byLane.get(lane)?.get(id)?.progress
  }

  /** True for progress that was not announced yet. */
  isNews(ref: JobRef, dividend: Uint8Array, divisor: Uint8Array): boolean {
    return this.has(ref.lane, ref.id) && this.progress(ref) !== progressOf(dividend, divisor)
  }

  /** Jobs of a lane with waiters since before then, the oldest first. */
  olderThan(lane: string, beforeMs: number, max: number): number[] {
    const ids: number[] = []
    for (const [id, wait] of this.#byLane.get(lane) ?? []) {
      if (wait.sinceMs > beforeMs || ids.length >= max) break
      ids.push(id)
    }
    return ids
  }

  /** As {@link olderThan}, but in turn: no job has a second turn before all had one. */
  inTurn(lane: string, beforeMs: number, max: number): number[] {
    const round = this.#rounds.get(lane) ?? 1
    const ids: number[] = []
    for (const [id, wait] of this.#byLane.get(lane) ?? []) {
      if (wait.sinceMs > beforeMs || ids.length >= max) break
      if (wait.round === round) continue
      wait.round = round
      ids.push(id)
    }
    if (ids.length < max) this.#rounds.set(lane, round + 1)
    return ids
  }

  #forget(lane: string, id: number): void {
    const waits = this.#byLane.get(lane)
    if (waits?.delete(id) && waits.size === 0) {
      this.#byLane.delete(lane)
      this.#rounds.delete(lane)
    }
  }
}

function progressOf(dividend: Uint8Array, divisor: Uint8Array): string {
  return `${Buffer.from(dividend).toString('latin1')}/${Buffer.from(divisor).toString('latin1')}`
}
