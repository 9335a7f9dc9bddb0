import type { JobEvent, JobRef } from '../model/job.ts'

/** A connected client that is owed the outcome of a job. */
export interface Waiter {
  onEvent(ref: JobRef, event: JobEvent): void
}

/** Jobs whose clients are named to the store at a time. */
const maxNamed = 500

interface Wait {
  readonly waiters: Set<Waiter>
  readonly sinceMs: number
  /** The round of looks that it had its turn in. */
  round: number
  /** Last progress announced, so that a look finds only news. */
  progress?: string
  /** The job's end as its worker reported it, while the store may or may not have it. */
  pendingOutcome?: JobEvent
}

/** Events after which nothing more comes. */
export function isFinal(event: JobEvent): boolean {
  return event.kind === 'complete' || event.kind === 'exception' || event.kind === 'fail'
}

/** The clients of this node that wait, by job. */
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

  count(lane: string, id: number): number {
    return this.#byLane.get(lane)?.get(id)?.waiters.size ?? 0
  }

  /** How many clients wait for each job, in parts of bounded size. */
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

  /** `other` waits in the place of `waiter`, if that one still waits. */
  replace(lane: string, id: number, waiter: Waiter, other: Waiter): void {
    const waiters = this.#byLane.get(lane)?.get(id)?.waiters
    if (waiters?.delete(waiter)) waiters.add(other)
  }

  /** Tells all that wait for the job; a final event ends their wait. */
  notify(ref: JobRef, event: JobEvent): void {
    const wait = this.#byLane.get(ref.lane)?.get(ref.id)
    if (!wait) return
    if (isFinal(event)) this.#forget(ref.lane, ref.id)
    else if (event.kind === 'status') wait.progress = progressOf(event.dividend, event.divisor)
    for (const waiter of [...wait.waiters]) waiter.onEvent(ref, event)
  }

  /** The job has ended so, if the store took it: kept for when the job is gone. */
  suppose(ref: JobRef, event: JobEvent): void {
    const wait = this.#byLane.get(ref.lane)?.get(ref.id)
    if (wait) wait.pendingOutcome = event
  }

  /** The job is gone: it ended as was supposed, or failed. */
  giveUp(ref: JobRef): void {
    this.notify(ref, this.#byLane.get(ref.lane)?.get(ref.id)?.pendingOutcome ?? { kind: 'fail' })
  }

  /** True for progress that was not announced yet. */
  isNews(ref: JobRef, dividend: Uint8Array, divisor: Uint8Array): boolean {
    const wait = this.#byLane.get(ref.lane)?.get(ref.id)
    return wait !== undefined && wait.progress !== progressOf(dividend, divisor)
  }

  /** The jobs of a lane that have been waited for since before, the oldest first. */
  olderThan(lane: string, beforeMs: number, max: number): number[] {
    const ids: number[] = []
    for (const [id, wait] of this.#byLane.get(lane) ?? []) {
      if (wait.sinceMs > beforeMs || ids.length >= max) break
      ids.push(id)
    }
    return ids
  }

  /** As {@link olderThan}, but each has its turn before one has the next. */
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
