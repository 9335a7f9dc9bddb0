import type { Job, JobRef } from './job.ts'
import type { LaneRegistry } from './lane-registry.ts'
import type { LaneCounts, Store } from './ports.ts'

/** Jobs by their names, whichever node took them, and how many there are. */
export class JobLookup {
  readonly #store: Store
  readonly #registry: LaneRegistry

  constructor(store: Store, registry: LaneRegistry) {
    this.#store = store
    this.#registry = registry
  }

  async read(ref: JobRef): Promise<Job | undefined> {
    const [job] = await this.#store.read(ref.lane, [ref.id])
    return job
  }

  /** The job that a Faktory producer named so. */
  async findJid(jid: string): Promise<Job | undefined> {
    const ref = await this.#store.findJid(jid, [...this.#registry.all()])
    return ref && this.read(ref)
  }

  /** A finished job that is kept, by the jid that its producer gave. */
  findFinished(jid: string): Promise<JobRef | undefined> {
    return this.#store.queues.findFinished(jid, [...this.#registry.all()])
  }

  /** Jobs of all functions with this unique id. */
  findUnique(unique: Uint8Array): Promise<readonly JobRef[]> {
    return this.#store.findUnique(unique, [...this.#registry.all()])
  }

  counts(lanes: Iterable<string> = this.#registry.all()): Promise<readonly LaneCounts[]> {
    return this.#store.counts([...lanes])
  }
}
