import type { JobRef, JobState, LookExtra } from '../model/job.ts'
import type { Steps } from '../dispatch/steps.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { LaneCounts, Store } from '../store/ports.ts'
import { UniqueLookup } from './unique-lookup.ts'

interface Parts {
  readonly store: Store
  readonly registry: LaneRegistry
  /** A look that follows its flush sees what workers of this node have said. */
  readonly steps: Pick<Steps, 'flush'>
}

/** Jobs by their names, whichever node took them, and how many there are. */
export class JobLookup {
  readonly #store: Store
  readonly #registry: LaneRegistry
  readonly #uniques: UniqueLookup
  readonly #steps: Pick<Steps, 'flush'>

  constructor({ store, registry, steps }: Parts) {
    this.#store = store
    this.#registry = registry
    this.#steps = steps
    this.#uniques = new UniqueLookup((uniques) => store.findUniques(uniques, [...registry.all()]))
  }

  /** The job as it stands, without its payload. */
  async look(ref: JobRef, extras?: readonly LookExtra[]): Promise<JobState | undefined> {
    this.#steps.flush()
    const [job] = await this.#store.look(ref.lane, [ref.id], extras)
    return job
  }

  /** The unfinished job that a Faktory producer named so. */
  async findJid(jid: string, extras?: readonly LookExtra[]): Promise<JobState | undefined> {
    const ref = await this.refOfJid(jid)
    return ref && this.look(ref, extras)
  }

  /** Where that job stands. */
  refOfJid(jid: string): Promise<JobRef | undefined> {
    this.#steps.flush()
    return this.#store.findJid(jid)
  }

  /** A finished job that is kept, by the jid that its producer gave. */
  findFinished(jid: string): Promise<JobRef | undefined> {
    return this.#store.queues.findFinished(jid)
  }

  /** Jobs of all functions with this unique id. */
  findUnique(unique: Uint8Array): Promise<readonly JobRef[]> {
    this.#steps.flush()
    return this.#uniques.find(unique)
  }

  /** Figures of lanes, of all where none are named; `withOldest` adds the age of the oldest job. */
  counts(
    lanes: Iterable<string> = this.#registry.all(),
    withOldest = false,
  ): Promise<readonly LaneCounts[]> {
    return this.#store.counts([...lanes], withOldest)
  }
}
