import type { Assignment, Delivery, Settlement } from '@crossgear/core-scheduler'

/** Most jobs remembered per worker; older ones are found through the store. */
const maxHeld = 10_000

/** A job handed to a worker of this node. */
export interface HeldJob {
  readonly assignment: Assignment
  /** The lease was lost; the worker's outcome changes nothing. */
  fenced: boolean
  /** The first outcome that the worker reported, while the gateway keeps it for the store; `stored` once the store has it. */
  said?: Settlement | 'stored' | undefined
  /** An earlier job with the same jid. */
  readonly before: HeldJob | undefined
}

/**
 * Jobs that a worker holds, by jid. A lost lease is remembered, so that a late outcome is not taken
 * for the job's next run.
 */
export class HeldJobs {
  readonly #byJid = new Map<string, HeldJob>()

  get size(): number {
    return this.#byJid.size
  }

  /** Lanes of its jobs, without lost ones. */
  lanes(): ReadonlySet<string> {
    const held = [...this.#byJid.values()].filter(({ fenced }) => !fenced)
    return new Set(held.map(({ assignment }) => assignment.job.lane))
  }

  /** The jobs of a worker, without lost ones; the oldest first. */
  *assignments(): Generator<Assignment> {
    for (const { assignment, fenced } of this.#byJid.values()) if (!fenced) yield assignment
  }

  /** True if that holds for any of its jobs, lost ones included. */
  some(isSo: (job: Assignment['job']) => boolean): boolean {
    return [...this.#byJid.values()].some(({ assignment }) => isSo(assignment.job))
  }

  /** Jobs of Faktory producers, without lost ones. */
  ofProducers(): readonly HeldJob[] {
    return [...this.#byJid.values()].filter(
      ({ assignment, fenced }) => !fenced && assignment.job.door === 'faktory',
    )
  }

  find(jid: string): HeldJob | undefined {
    return this.#byJid.get(jid)
  }

  hold(jid: string, delivery: Delivery): void {
    const before = this.#byJid.get(jid)
    this.#byJid.delete(jid)
    this.#byJid.set(jid, {
      assignment: withoutInput(delivery),
      fenced: false,
      before: before?.fenced ? undefined : before,
    })
    if (this.#byJid.size <= maxHeld) return
    for (const oldest of this.#byJid.keys()) {
      this.#byJid.delete(oldest)
      break
    }
  }

  /** The job's outcome came another way. */
  forget(jid: string): void {
    this.#byJid.delete(jid)
  }

  /** The job's outcome is stored. */
  drop(jid: string, held: HeldJob): void {
    if (this.#byJid.get(jid) !== held) return
    if (held.before) this.#byJid.set(jid, held.before)
    else this.#byJid.delete(jid)
  }
}

const nothing = Buffer.alloc(0)

/** A payload may pin a large chunk of a reply; an outcome does not need it. */
function withoutInput({ job, sinceMs }: Delivery): Assignment {
  const leased = { ...job, input: nothing }
  return { job: leased, sinceMs }
}
