import type { Assignment, Delivery } from '@crossgear/core-scheduler'

/** Jobs that are remembered per worker; older ones are found by way of the store. */
const maxHeld = 10_000

/** A job that was handed to a worker of this node. */
export interface HeldJob {
  readonly assignment: Assignment
  /** The lease has been lost; what the worker says of it changes nothing. */
  fenced: boolean
  /** Another job under the same jid, handed out before. */
  readonly before: HeldJob | undefined
}

/**
 * The jobs that a worker holds, by jid. A lost lease stays known, so that a late word about it is
 * not taken for one about the job's next run.
 */
export class HeldJobs {
  readonly #byJid = new Map<string, HeldJob>()

  get size(): number {
    return this.#byJid.size
  }

  /** The lanes of what it has, as far as that was not taken from it. */
  lanes(): ReadonlySet<string> {
    const held = [...this.#byJid.values()].filter(({ fenced }) => !fenced)
    return new Set(held.map(({ assignment }) => assignment.job.lane))
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

  /** The job's outcome is in the store. */
  drop(jid: string, held: HeldJob): void {
    if (this.#byJid.get(jid) !== held) return
    if (held.before) this.#byJid.set(jid, held.before)
    else this.#byJid.delete(jid)
  }
}

/** A payload may pin a large piece of what came from the store; an outcome does not need it. */
function withoutInput({ job, sinceMs }: Delivery): Assignment {
  const { input, ...leased } = job
  return { job: leased, sinceMs }
}
