import type { NodeContext } from '../node/node-context.ts'
import type { Job, JobRef, JobState, LookExtra } from '../model/job.ts'
import type { LaneCounts, LaneTotals } from '../store/lane-ports.ts'
import { UniqueLookup } from './unique-lookup.ts'

/** Finds and counts the jobs of all nodes. */
export class JobLookup {
  readonly #parts: NodeContext
  readonly #uniques: UniqueLookup

  constructor(parts: NodeContext) {
    const { store, registry } = parts
    this.#parts = parts
    this.#uniques = new UniqueLookup((uniques) =>
      store.jobs.findUniques(uniques, [...registry.all()]),
    )
  }

  /** The job's state, without its payload. */
  async look(ref: JobRef, extras?: readonly LookExtra[]): Promise<JobState | undefined> {
    this.#parts.steps.flush()
    const [job] = await this.#parts.store.jobs.look(ref.lane, [ref.id], extras)
    return job
  }

  /** The current state of jobs of one lane, without their payloads. */
  lookAll(
    lane: string,
    ids: readonly number[],
    extras?: readonly LookExtra[],
  ): Promise<readonly (JobState | undefined)[]> {
    return this.#parts.store.jobs.look(lane, ids, extras)
  }

  /** The job with its payload, however long that is. */
  async read(ref: JobRef): Promise<Job | undefined> {
    const [job] = await this.#parts.store.jobs.read(ref.lane, [ref.id])
    return job
  }

  /** Finds an unfinished job by its producer's jid. */
  async findJid(jid: string, extras?: readonly LookExtra[]): Promise<JobState | undefined> {
    const ref = await this.refOfJid(jid)
    return ref && this.look(ref, extras)
  }

  /** The lane and id of that job. */
  refOfJid(jid: string): Promise<JobRef | undefined> {
    this.#parts.steps.flush()
    return this.#parts.store.jobs.findJid(jid)
  }

  /** Finds a kept, finished job by its producer's jid. */
  findFinished(jid: string): Promise<JobRef | undefined> {
    return this.#parts.store.queues.findFinished(jid)
  }

  /** Jobs of all functions with this unique id. The first jobs of new functions are on their way a moment longer. */
  async findUnique(unique: Uint8Array): Promise<readonly JobRef[]> {
    if (this.#parts.registrar.isRegistering) {
      await this.#parts.registrar.registered()
      await new Promise<void>((resolve) => this.#parts.clock.endOfTurn(resolve))
    }
    this.#parts.steps.flush()
    return this.#uniques.find(unique)
  }

  /** Figures of the named lanes, or of all; `withOldest` adds the age of the oldest job. */
  counts(
    lanes: Iterable<string> = this.#parts.registry.all(),
    withOldest = false,
  ): Promise<readonly LaneCounts[]> {
    return this.#parts.store.lanes.counts([...lanes], withOldest)
  }

  /** The counters of lanes that are gone. */
  formerTotals(): Promise<LaneTotals> {
    return this.#parts.store.lanes.formerTotals()
  }
}
