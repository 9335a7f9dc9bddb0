import type { NodeContext } from '../node/node-context.ts'
import type { HeldRef, JobState, LeasedRef } from '../model/job.ts'
import type { Outcomes } from '../results/outcomes.ts'

/** Jobs that a dead Faktory worker gives back: those of other doors, or Faktory's own as well. */
export type DeadWorkerRequeue = 'others' | 'all'

/** A worker that closed all its connections and stays away for this long is dead, milliseconds. */
export const defaultDeadWorkerMs = 60_000
/** Share of its absence that this node must have seen itself: the store may have been away. */
const ownShare = 1 / 3
/** A longer pause between two checks restarts the observation, milliseconds. */
const longestPauseMs = 5_000
/** Absent workers handled per check. */
const perCheck = 100

interface Absence {
  /** When it went, on the store's clock. */
  readonly goneMs: number
  /** When this node saw that first, on its own. */
  readonly seenMs: number
}

interface Parts extends NodeContext {
  readonly requeue: DeadWorkerRequeue
  readonly deadMs: number
  readonly outcomes: Outcomes
}

type Lease = Pick<JobState, 'lane' | 'id' | 'door'> & { readonly token: string }

/**
 * Notes in the store which Faktory workers hold jobs of other doors, which go back when the worker
 * dies: its connections may be at any node, and the node that handed the job out may be dead too. A worker that is silent, or
 * whose connections a node closed or took with it, may be alive: its jobs stay.
 */
export class LeaseHolders {
  readonly #parts: Parts
  readonly #onError = (error: unknown): void => this.#parts.observer.error('holders', error)
  readonly #held = new Map<string, HeldRef[]>()
  readonly #ended = new Map<string, string[]>()
  /** Holders that are connected to this node. */
  readonly #connected = new Set<string>()
  /** Holders whose last change, to come or to go, the store does not have yet. */
  #changed = new Map<string, 'alive' | 'gone'>()
  readonly #absences = new Map<string, Absence>()
  #lookedMs = -Infinity
  #unnamed = 0
  #isArmed = false

  constructor(parts: Parts) {
    this.#parts = parts
    parts.tasks.add({ name: 'dead workers', isFirst: true, run: () => this.#look() })
  }

  /** A worker's name as a holder: its wid, or else its connection. */
  nameOf(wid: string | undefined): string {
    if (wid !== undefined) return `w${wid}`
    this.#unnamed += 1
    return `c${this.#parts.store.node}-${this.#unnamed}`
  }

  hold(holder: string, { lane, id, token, door }: Lease): void {
    if (!this.#isNoted(door)) return
    this.#add(this.#held, holder, { lane, id, token })
  }

  /** The worker ended the lease. */
  settled(holder: string, { token, door }: Lease): void {
    if (this.#isNoted(door)) this.#add(this.#ended, holder, token)
  }

  /** The worker sent a BEAT. */
  alive(holder: string): void {
    this.#changed.set(holder, 'alive')
    this.#arm()
  }

  /** The first connection of a holder to this node began. */
  connected(holder: string): void {
    this.#connected.add(holder)
    this.alive(holder)
  }

  /** The last connection of a holder ended. `hasGone`: the worker closed it, or its end broke it off. */
  disconnected(holder: string, hasGone: boolean): void {
    this.#connected.delete(holder)
    if (!hasGone) return
    this.#changed.set(holder, 'gone')
    this.#arm()
  }

  /** Requeues leases of a dead node's consumers: a job without a note has not reached any. */
  async reclaimed(leases: readonly LeasedRef[]): Promise<void> {
    const theirs = leases.filter(({ door }) => this.#isNoted(door))
    if (theirs.length === 0) return
    const noted = await this.#parts.store.holders.noted(theirs.map(({ token }) => token))
    await this.#requeue(theirs.filter(({ token }) => !noted.has(token)))
  }

  /** Stores what could not be stored before, and requeues the jobs of dead workers. */
  async #look(): Promise<void> {
    try {
      await this.#storeChanges()
      for (const holder of await this.#dead()) await this.#putBack(holder)
    } catch (error) {
      this.#absences.clear()
      throw error
    }
  }

  #isNoted(door: JobState['door']): boolean {
    return door !== 'faktory' || this.#parts.requeue === 'all'
  }

  #add<Item>(to: Map<string, Item[]>, holder: string, item: Item): void {
    const items = to.get(holder)
    if (items) items.push(item)
    else to.set(holder, [item])
    this.#arm()
  }

  #arm(): void {
    if (this.#isArmed) return
    this.#isArmed = true
    this.#parts.clock.endOfTurn(() => this.#flush())
  }

  /** Order matters: a lease may begin and end in one turn. */
  #flush(): void {
    const { store } = this.#parts
    const onError = this.#onError
    this.#isArmed = false
    for (const [holder, leases] of this.#held) store.holders.hold(holder, leases).catch(onError)
    for (const [holder, tokens] of this.#ended) store.holders.drop(holder, tokens).catch(onError)
    this.#held.clear()
    this.#ended.clear()
    this.#storeChanges().catch(onError)
  }

  /** Changes that the store does not take are kept for the next look. */
  async #storeChanges(): Promise<void> {
    const changed = this.#changed
    if (changed.size === 0) return
    this.#changed = new Map()
    const { holders } = this.#parts.store
    const those = (how: 'alive' | 'gone'): string[] =>
      [...changed].flatMap(([holder, last]) => (last === how ? [holder] : []))
    const [alive, gone] = [those('alive'), those('gone')]
    try {
      await Promise.all([
        alive.length > 0 ? holders.alive(alive) : undefined,
        gone.length > 0 ? holders.gone(gone) : undefined,
      ])
    } catch (error) {
      this.#changed = new Map([...changed, ...this.#changed])
      throw error
    }
  }

  /** Holders that were away for long enough, by the store's clock and by this node's own. */
  async #dead(): Promise<string[]> {
    const { store, clock, deadMs } = this.#parts
    const nowMs = clock.nowMs()
    if (nowMs - this.#lookedMs > longestPauseMs) this.#absences.clear()
    this.#lookedMs = nowMs
    const all = await store.holders.goneFor(deadMs * (1 - ownShare), perCheck)
    const here = all.filter(({ holder }) => this.#connected.has(holder))
    // Such a worker closed its connections to another node alone.
    if (here.length > 0) await store.holders.alive(here.map(({ holder }) => holder))
    const before = new Map(this.#absences)
    this.#absences.clear()
    return all.flatMap(({ holder, sinceMs, goneMs }) => {
      if (this.#connected.has(holder)) return []
      const known = before.get(holder)
      const absence = known?.goneMs === sinceMs ? known : { goneMs: sinceMs, seenMs: nowMs }
      this.#absences.set(holder, absence)
      const isDead = goneMs >= deadMs && nowMs - absence.seenMs >= deadMs * ownShare
      return isDead ? [holder] : []
    })
  }

  /** A job that cannot be requeued now is found again by the next check. */
  async #putBack(holder: string): Promise<void> {
    const { store } = this.#parts
    await store.holders.drop(holder, await this.#requeue(await store.holders.held(holder)))
  }

  /** Returns the tokens of the leases that have ended. */
  async #requeue(leases: readonly HeldRef[]): Promise<readonly string[]> {
    const { outcomes, retryPolicy } = this.#parts
    const ended = await Promise.all(
      leases.map(
        ({ lane, id, token }) =>
          new Promise<readonly string[]>((resolve) => {
            outcomes.add(
              undefined,
              { lane, id, token, kind: 'requeue', lost: true, ...retryPolicy.ofLoss() },
              { settled: () => resolve([token]), refused: () => resolve([]) },
            )
          }),
      ),
    )
    return ended.flat()
  }
}
