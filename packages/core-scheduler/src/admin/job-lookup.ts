import type { NodeContext } from '../node/node-context.ts'
import type { Job, JobRef, JobState, LookExtra } from '../model/job.ts'
import type { LaneCounts, LaneTotals } from '../store/lane-ports.ts'

/** How long the former name of a moved job leads to it, from when it is due, milliseconds; docs/reference/limits.md has it. */
const movedForMs = 7 * 24 * 3_600_000
/** Moves of one job that a look follows. */
const maxMoves = 16

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

  /** The job's state, without its payload, or that of the job to which it was moved. */
  async look(ref: JobRef, extras?: readonly LookExtra[]): Promise<JobState | undefined> {
    this.#parts.steps.flush()
    const { store } = this.#parts
    let current: JobRef | undefined = ref
    for (let moves = 0; current && moves <= maxMoves; moves += 1) {
      const [job] = await store.jobs.look(current.lane, [current.id], extras)
      if (job) return job
      current = await store.jobs.movedTo(current)
    }
    return undefined
  }

  /** The name of a job that is moved leads to its copy; to nothing, where it has none. */
  async noteMove(from: JobRef, to: JobRef | undefined, dueAtMs = 0): Promise<void> {
    const { store, heartbeat } = this.#parts
    const aheadMs = Math.max(0, dueAtMs - heartbeat.storeNowMs())
    // The name has the number of its lane, which is given back once that is not needed any more.
    if (to) await store.lanes.keep(from.lane)
    await store.jobs.noteMove(from, to, aheadMs + movedForMs)
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

/** Unique ids that one walk looks for. */
const uniquesPerWalk = 64

type Walk = (uniques: readonly Uint8Array[]) => Promise<readonly (readonly JobRef[])[]>

interface Question {
  readonly unique: Uint8Array
  readonly resolve: (refs: readonly JobRef[]) => void
  readonly reject: (reason: unknown) => void
}

/**
 * Looks for unique ids over all functions: a walk through their lanes, one at a time. Requests that
 * come meanwhile share the next walk.
 */
export class UniqueLookup {
  readonly #walk: Walk
  readonly #asked: Question[] = []
  #isWalking = false

  constructor(walk: Walk) {
    this.#walk = walk
  }

  find(unique: Uint8Array): Promise<readonly JobRef[]> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ unique, resolve, reject })
      if (!this.#isWalking) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isWalking = true
    while (this.#asked.length > 0) {
      const questions = this.#asked.splice(0, uniquesPerWalk)
      try {
        const found = await this.#walk(questions.map(({ unique }) => unique))
        for (const [at, { resolve }] of questions.entries()) resolve(found[at] ?? [])
      } catch (error) {
        for (const { reject } of questions) reject(error)
      }
    }
    this.#isWalking = false
  }
}
