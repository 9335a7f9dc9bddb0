import type { Job, JobRef, JobState, LookExtra } from '../model/job.ts'
import type { Clock } from '../clock.ts'
import type { LaneRegistrar } from '../intake/lane-registrar.ts'
import type { Steps } from '../dispatch/steps.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { LaneCounts, LaneTotals } from '../store/lane-ports.ts'
import type { Store } from '../store/store.ts'
import { UniqueLookup } from './unique-lookup.ts'

interface Parts {
  readonly store: Store
  readonly clock: Pick<Clock, 'endOfTurn'>
  readonly registrar: Pick<LaneRegistrar, 'isRegistering' | 'registered'>
  readonly registry: LaneRegistry
  /** A read after this flush includes reports of this node's workers. */
  readonly steps: Pick<Steps, 'flush'>
}

/** Finds and counts the jobs of all nodes. */
export class JobLookup {
  readonly #store: Store
  readonly #registry: LaneRegistry
  readonly #uniques: UniqueLookup
  readonly #clock: Parts['clock']
  readonly #registrar: Parts['registrar']
  readonly #steps: Pick<Steps, 'flush'>

  constructor({ store, clock, registry, registrar, steps }: Parts) {
    this.#store = store
    this.#registry = registry
    this.#steps = steps
    this.#clock = clock
    this.#registrar = registrar
    this.#uniques = new UniqueLookup((uniques) =>
      store.jobs.findUniques(uniques, [...registry.all()]),
    )
  }

  /** The job's state, without its payload. */
  async look(ref: JobRef, extras?: readonly LookExtra[]): Promise<JobState | undefined> {
    this.#steps.flush()
    const [job] = await this.#store.jobs.look(ref.lane, [ref.id], extras)
    return job
  }

  /** The current state of jobs of one lane, without their payloads. */
  lookAll(
    lane: string,
    ids: readonly number[],
    extras?: readonly LookExtra[],
  ): Promise<readonly (JobState | undefined)[]> {
    return this.#store.jobs.look(lane, ids, extras)
  }

  /** The job with its payload, however long that is. */
  async read(ref: JobRef): Promise<Job | undefined> {
    const [job] = await this.#store.jobs.read(ref.lane, [ref.id])
    return job
  }

  /** Finds an unfinished job by its producer's jid. */
  async findJid(jid: string, extras?: readonly LookExtra[]): Promise<JobState | undefined> {
    const ref = await this.refOfJid(jid)
    return ref && this.look(ref, extras)
  }

  /** The lane and id of that job. */
  refOfJid(jid: string): Promise<JobRef | undefined> {
    this.#steps.flush()
    return this.#store.jobs.findJid(jid)
  }

  /** Finds a kept, finished job by its producer's jid. */
  findFinished(jid: string): Promise<JobRef | undefined> {
    return this.#store.queues.findFinished(jid)
  }

  /** Jobs of all functions with this unique id. The first jobs of new functions are on their way a moment longer. */
  async findUnique(unique: Uint8Array): Promise<readonly JobRef[]> {
    if (this.#registrar.isRegistering) {
      await this.#registrar.registered()
      await new Promise<void>((resolve) => this.#clock.endOfTurn(resolve))
    }
    this.#steps.flush()
    return this.#uniques.find(unique)
  }

  /** Figures of the named lanes, or of all; `withOldest` adds the age of the oldest job. */
  counts(
    lanes: Iterable<string> = this.#registry.all(),
    withOldest = false,
  ): Promise<readonly LaneCounts[]> {
    return this.#store.lanes.counts([...lanes], withOldest)
  }

  /** The counters of lanes that are gone. */
  formerTotals(): Promise<LaneTotals> {
    return this.#store.lanes.formerTotals()
  }
}
