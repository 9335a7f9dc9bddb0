import type { NodeContext } from '../node/node-context.ts'
import type { HeldRef } from '../model/job.ts'
import type { NativeRecovery } from './native-recovery.ts'

/** Interval of looks, milliseconds. */
const lookEveryMs = 10_000
/** Holders of a look. */
const holdersPerLook = 100

interface Parts extends NodeContext {
  readonly recovery: Pick<NativeRecovery, 'leads'>
}

/**
 * Drops notes of leases that ended without their holder's doing: their time was over, or the job was
 * cancelled, dropped or given to another. A worker that lives on would keep them for days.
 */
export class EndedHolds {
  readonly #parts: Parts
  /** The place among the holders at which the next look begins. */
  #cursor = '0'

  constructor(parts: Parts) {
    this.#parts = parts
    parts.tasks.add({ name: 'ended holds', everyMs: lookEveryMs, run: () => this.#look() })
  }

  async #look(): Promise<void> {
    const { store, recovery } = this.#parts
    if (!recovery.leads) return
    const { holders, next } = await store.holders.some(this.#cursor, holdersPerLook)
    this.#cursor = next
    for (const holder of holders) {
      const ended = await this.#ended(await store.holders.held(holder))
      if (ended.length > 0) await store.holders.drop(holder, ended)
    }
  }

  /** Tokens of those that do not stand any more: a token is never given twice. */
  async #ended(leases: readonly HeldRef[]): Promise<readonly string[]> {
    const { jobs } = this.#parts.store
    const found: string[] = []
    for (const lane of new Set(leases.map((lease) => lease.lane))) {
      const ofLane = leases.filter((lease) => lease.lane === lane)
      const looked = await jobs.look(
        lane,
        ofLane.map(({ id }) => id),
      )
      for (const [at, { token }] of ofLane.entries())
        if (looked[at]?.token !== token) found.push(token)
    }
    return found
  }
}
