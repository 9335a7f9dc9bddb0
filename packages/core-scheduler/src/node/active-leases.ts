import type { JobRef } from '../model/job.ts'
import type { Store } from '../store/store.ts'
import type { Assignment } from '../model/requests.ts'

/** Jobs in one check of what is still held. */
const perCheck = 500
/** Interval at which a held job is checked, milliseconds. */
const recheckAfterMs = 60_000
/** Comparisons of a lane with the store after its last lease here: one that a failover brings back is found. */
const comparisons = 3

interface Held {
  readonly ref: JobRef
  /** Last time it was known to be held, milliseconds. */
  readonly knownMs: number
}

/** Leases held by this node's workers, by token. */
export class ActiveLeases {
  /** By token, least recently checked first. */
  readonly #byToken = new Map<string, Held>()
  readonly #waiting: (() => void)[] = []
  /** Lanes with leases, each with the comparisons with the store that are left since the last one ended. */
  readonly #lanes = new Map<string, number>()
  /** Lanes with new leases that end at a time; whoever notes their deadlines takes them out. */
  readonly timed = new Set<string>()
  #claims = 0

  get size(): number {
    return this.#byToken.size
  }

  add({ job, sinceMs }: Assignment): void {
    this.#byToken.set(job.token, { ref: job, knownMs: sinceMs })
    this.#lanes.set(job.lane, comparisons)
  }

  /** Lanes that may have leases of this node, for a comparison with the store. */
  lanesToCompare(): readonly string[] {
    for (const { ref } of this.#byToken.values()) this.#lanes.set(ref.lane, comparisons)
    const lanes = [...this.#lanes.keys()]
    for (const [lane, left] of this.#lanes) {
      if (left > 1) this.#lanes.set(lane, left - 1)
      else this.#lanes.delete(lane)
    }
    return lanes
  }

  /** A comparison found an unknown lease there. */
  compareAgain(lane: string): void {
    this.#lanes.set(lane, comparisons)
  }

  has(token: string): boolean {
    return this.#byToken.has(token)
  }

  /** A claim is in progress, and may bring jobs, until {@link claimed}. */
  claiming(): void {
    this.#claims += 1
  }

  claimed(): void {
    this.#claims -= 1
    this.#resolveIfEmpty()
  }

  /** The lease has ended. */
  remove(token: string): void {
    const held = this.#byToken.get(token)
    if (!held) return
    this.#lanes.set(held.ref.lane, comparisons)
    this.#byToken.delete(token)
    this.#resolveIfEmpty()
  }

  /** Resolves when no lease is held and no claim is in progress. */
  whenEmpty(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#resolveIfEmpty()
    })
  }

  /**
   * Drops leases that timed out or were ended at another node: checks some of the long-held ones,
   * or all while a caller waits.
   */
  async prune(store: Store, nowMs: number): Promise<void> {
    const all = this.#waiting.length > 0
    const byLane = new Map<string, Map<string, number>>()
    let count = 0
    for (const [token, { ref, knownMs }] of this.#byToken) {
      if (!all && (nowMs - knownMs < recheckAfterMs || count >= perCheck)) break
      const held = byLane.get(ref.lane) ?? new Map<string, number>()
      byLane.set(ref.lane, held.set(token, ref.id))
      count += 1
    }
    for (const [lane, held] of byLane) await this.#look(store, lane, [...held], nowMs)
    this.#resolveIfEmpty()
  }

  /** Leases of this node, and how many of them the store does not know. */
  async compare(store: Store): Promise<{ readonly held: number; readonly lost: number }> {
    const byLane = new Map<string, [token: string, id: number][]>()
    for (const [token, { ref }] of this.#byToken) {
      const held = byLane.get(ref.lane) ?? []
      byLane.set(ref.lane, held)
      held.push([token, ref.id])
    }
    let [count, lost] = [0, 0]
    for (const [lane, held] of byLane) {
      for (let from = 0; from < held.length; from += perCheck) {
        const some = held.slice(from, from + perCheck)
        const jobs = await store.jobs.look(
          lane,
          some.map(([, id]) => id),
        )
        count += some.length
        lost += some.filter(([token], at) => jobs[at]?.token !== token).length
      }
    }
    return { held: count, lost }
  }

  #resolveIfEmpty(): void {
    if (this.size + this.#claims > 0) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  async #look(
    store: Store,
    lane: string,
    held: readonly (readonly [string, number])[],
    nowMs: number,
  ): Promise<void> {
    for (let from = 0; from < held.length; from += perCheck) {
      const some = held.slice(from, from + perCheck)
      const ids = some.map(([, id]) => id)
      const jobs = await store.jobs.look(lane, ids)
      for (const [at, [token, id]] of some.entries()) {
        if (!this.#byToken.delete(token)) continue
        const isHeld = jobs[at]?.token === token
        if (isHeld) this.#byToken.set(token, { ref: { lane, id }, knownMs: nowMs })
      }
    }
  }
}
