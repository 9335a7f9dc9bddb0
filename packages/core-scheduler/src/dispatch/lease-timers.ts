import type { Clock } from '../clock.ts'

/** Longest timer of Node, milliseconds. */
const longestTimerMs = 2 ** 31 - 1

/** A job that its worker has to finish in time. */
export interface Leased {
  /** The time is up. */
  leaseEnded(): void
}

/**
 * Ends leases on time with one timer: leases of one length end in the order in which they began.
 * The store's own check is for nodes that died.
 */
export class LeaseTimers {
  readonly #clock: Clock
  /** Deadlines on this node's clock, by length of the lease. */
  readonly #byLength = new Map<number, Map<Leased, number>>()
  #armed: { readonly atMs: number; readonly cancel: () => void } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `sinceMs`: when the lease began, on this node's clock. */
  start(leased: Leased, leaseMs: number, sinceMs: number): void {
    const line = this.#byLength.get(leaseMs) ?? new Map<Leased, number>()
    this.#byLength.set(leaseMs, line)
    line.delete(leased)
    line.set(leased, sinceMs + leaseMs)
    this.#arm(sinceMs + leaseMs)
  }

  stop(leased: Leased, leaseMs: number): void {
    const line = this.#byLength.get(leaseMs)
    if (line?.delete(leased) && line.size === 0) this.#byLength.delete(leaseMs)
  }

  /** Ends no more leases. */
  close(): void {
    this.#byLength.clear()
    this.#armed?.cancel()
    this.#armed = undefined
  }

  #arm(atMs: number): void {
    if (this.#armed && this.#armed.atMs <= atMs) return
    this.#armed?.cancel()
    const ms = Math.min(longestTimerMs, Math.max(0, Math.ceil(atMs - this.#clock.nowMs())))
    this.#armed = { atMs, cancel: this.#clock.after(ms, () => this.#fire()) }
  }

  #fire(): void {
    this.#armed = undefined
    const ended = this.#takeEnded()
    let nextMs = Infinity
    for (const line of this.#byLength.values()) {
      for (const deadlineMs of line.values()) {
        nextMs = Math.min(nextMs, deadlineMs)
        break
      }
    }
    if (nextMs < Infinity) this.#arm(nextMs)
    for (const leased of ended) leased.leaseEnded()
  }

  #takeEnded(): Leased[] {
    const nowMs = this.#clock.nowMs()
    const ended: Leased[] = []
    for (const [leaseMs, line] of this.#byLength) {
      for (const [leased, deadlineMs] of line) {
        if (deadlineMs > nowMs) break
        line.delete(leased)
        ended.push(leased)
      }
      if (line.size === 0) this.#byLength.delete(leaseMs)
    }
    return ended
  }
}
