import type { LaneCounts, Scheduler } from '@crossgear/core-scheduler'
import { type Budget, type FailedSet, failureIndexBounds, LaneFailures } from './lane-failures.ts'

/** Lanes whose figures one step reads. */
const lanesPerStep = 512

/** The result of a look. */
export interface Looked {
  readonly lanes: readonly { readonly lane: string; readonly failures: LaneFailures }[]
  /** Failed jobs that there are. */
  readonly jobs: number
  /** No set has changed since it was read, so the groups are whole. */
  readonly isCurrent: boolean
  /** Failures that this look has read, and a part of the ids. */
  readonly lookedAt: number
}

/** Ids that cost as much as a failure. */
const idsPerFailure = 50

/**
 * Failed jobs by their errors, exact for any door by which jobs fail and leave: it knows the jobs of each lane, and reads
 * again what the lane's counters say has changed. Nothing is stored, and no job costs more when it fails. A look reads a
 * bounded number of jobs and goes on with the next.
 */
export class FailureIndex {
  readonly #scheduler: Scheduler
  readonly #sets: Readonly<Record<FailedSet, Map<string, LaneFailures>>> = {
    dead: new Map(),
    retries: new Map(),
  }
  #looks = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  /** Looks follow one another, as they read the same lanes. */
  look(set: FailedSet, lanes: readonly string[]): Promise<Looked> {
    const look = this.#last.then(() => this.#look(set, lanes))
    this.#last = look.catch(() => undefined)
    return look
  }

  async #look(set: FailedSet, lanes: readonly string[]): Promise<Looked> {
    this.#looks += 1
    this.#forgetLanes()
    const known = this.#sets[set]
    const { versionOf, sizeOf } = figures[set]
    const found: { lane: string; failures: LaneFailures; version: string }[] = []
    let jobs = 0
    for (let at = 0; at < lanes.length; at += lanesPerStep) {
      for (const counts of await this.#scheduler.jobs.counts(lanes.slice(at, at + lanesPerStep))) {
        const { lane } = counts
        if (sizeOf(counts) === 0) {
          known.delete(lane)
          continue
        }
        jobs += sizeOf(counts)
        const failures = known.get(lane) ?? new LaneFailures(this.#scheduler, lane, set)
        known.set(lane, failures)
        found.push({ lane, failures, version: versionOf(counts) })
      }
    }
    const budget = this.#budget()
    const stale = found.filter(({ failures, version }) => !failures.isCurrent(version))
    stale.sort((one, other) => one.failures.lookedAt - other.failures.lookedAt)
    for (const { failures, version } of stale) {
      if (budget.failures <= 0 || budget.ids <= 0) break
      failures.lookedAt = this.#looks
      await failures.read(version, budget)
    }
    const { failuresPerCall, idsPerCall } = failureIndexBounds
    const [failures, ids] = [failuresPerCall - budget.failures, idsPerCall - budget.ids]
    return {
      lanes: found,
      jobs,
      isCurrent: stale.every(({ failures: of, version }) => of.isCurrent(version)),
      lookedAt: failures + Math.ceil(ids / idsPerFailure),
    }
  }

  /** Lanes that are gone. */
  #forgetLanes(): void {
    for (const known of Object.values(this.#sets)) {
      for (const lane of known.keys()) {
        if (this.#scheduler.registry.numberOf(lane) === undefined) known.delete(lane)
      }
    }
  }

  #budget(): Budget {
    const { jobs, kinds, idsPerCall, failuresPerCall } = failureIndexBounds
    const budget: Budget = { ids: idsPerCall, failures: failuresPerCall, jobs, kinds }
    for (const known of Object.values(this.#sets)) {
      for (const failures of known.values()) {
        budget.jobs -= failures.jobs
        budget.kinds -= failures.kinds
      }
    }
    return budget
  }
}

interface Figures {
  readonly sizeOf: (counts: LaneCounts) => number
  /** The text changes with the set: whatever puts a job there or takes it away changes one of the figures. */
  readonly versionOf: (counts: LaneCounts) => string
}

function figuresOf(size: 'dead' | 'retrying', ...others: readonly (keyof LaneCounts)[]): Figures {
  return {
    sizeOf: (counts) => counts[size],
    versionOf: (counts) => [size, ...others].map((name) => String(counts[name])).join(' '),
  }
}

const figures: Readonly<Record<FailedSet, Figures>> = {
  dead: figuresOf('dead', 'died', 'killed', 'forgotten', 'rerun', 'deleted', 'moved'),
  retries: figuresOf(
    'retrying',
    'retried',
    'promoted',
    'requeued',
    'rerun',
    'cancelled',
    'deleted',
    'moved',
    'killed',
    'died',
    'failed',
    'expired',
  ),
}
