import { StoreError } from '../model/store-errors.ts'
import type { NodeContext } from '../node/node-context.ts'
import type { HeldRef, LeaseStart } from '../model/job.ts'
import { Part } from '../node/node-parts.ts'

/**
 * Time that a start waits for an outcome that makes it needless, milliseconds; then the next step takes it.
 * FETCH and ACK take 0.85 of the processor time without prefetch, 1.0 if it goes at once.
 */
const mergedWithinMs = 5
/** Without other steps it sends one after this time, milliseconds. */
const longestDelayMs = 20
/** The store is asked again after this time, milliseconds. */
const retryAfterMs = 1_000

interface Pending {
  readonly start: LeaseStart
  readonly sinceMs: number
}

type Parts = Pick<NodeContext, 'clock' | 'steps' | 'activeLeases'>

/**
 * Notes of consumers that were given prefetched jobs. Until the store has one, its job goes back if
 * this node dies.
 */
export class LeaseStarts extends Part<Parts> {
  /** Not stored yet, by token, the oldest first. */
  readonly #pending = new Map<string, Pending>()
  /** The same, with an outcome on its way. */
  readonly #ending = new Map<string, Pending>()
  #cancel: (() => void) | undefined

  add({ lane, id, token }: HeldRef, heldMs: number): void {
    const start: LeaseStart = { lane, id, token, kind: 'lease', heldMs }
    this.#pending.set(token, { start, sinceMs: this.parts.clock.nowMs() })
    this.#arm()
  }

  /** An outcome leaves for the store. */
  ending(token: string): void {
    const pending = this.#pending.get(token)
    if (!pending) return
    this.#pending.delete(token)
    this.#ending.set(token, pending)
  }

  /** The store took the outcome. */
  ended(token: string): void {
    this.#ending.delete(token)
    this.#pending.delete(token)
  }

  /** The store did not take it: the consumer still has the job. */
  notEnded(token: string): void {
    const pending = this.#ending.get(token)
    if (!pending) return
    this.#ending.delete(token)
    this.#pending.set(token, pending)
    this.#arm()
  }

  /** Adds starts that are old enough to the step being built. */
  flush(): void {
    if (this.#pending.size === 0) return
    const beforeMs = this.parts.clock.nowMs() - mergedWithinMs
    const due: Pending[] = []
    for (const [token, pending] of this.#pending) {
      if (pending.sinceMs > beforeMs) break
      this.#pending.delete(token)
      due.push(pending)
    }
    if (due.length > 0) void this.#send(due)
    if (this.#pending.size > 0) this.#arm()
  }

  /** Stores all before the node leaves: what it has prefetched goes back then. */
  async settle(): Promise<void> {
    this.#cancel?.()
    const all = [...this.#pending.values(), ...this.#ending.values()]
    this.#pending.clear()
    this.#ending.clear()
    if (all.length > 0) await this.#send(all)
  }

  #send(due: readonly Pending[]): Promise<void> {
    const { steps, activeLeases } = this.parts
    const starts = due.map(({ start }) => start)
    return new Promise((resolve) => {
      steps.report(starts, { items: starts.length, bytes: 0 }, (answers) => {
        if (answers instanceof StoreError) this.#sendAgain(due)
        else {
          for (const [at, { token }] of starts.entries()) {
            if (answers[at] === false) activeLeases.remove(token)
          }
        }
        resolve()
      })
    })
  }

  /** An outcome sent meanwhile gets the store's error. */
  #sendAgain(due: readonly Pending[]): void {
    for (const pending of due) {
      const { token } = pending.start
      if (this.parts.activeLeases.has(token)) this.#pending.set(token, pending)
    }
    this.#arm(retryAfterMs)
  }

  #arm(delayMs = longestDelayMs): void {
    const { clock, steps } = this.parts
    this.#cancel ??= clock.after(delayMs, () => {
      this.#cancel = undefined
      if (this.#pending.size > 0) steps.added()
    })
  }
}
