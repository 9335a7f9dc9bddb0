import {
  defaultDeadWorkerMs,
  functionLimit,
  holderOf,
  type JobState,
  type LaneAnswer,
  type Scheduler,
  type Throttle,
} from '@crossgear/core-scheduler'
import type { Fleet } from '../../../../operations/fleet/fleet.ts'
import { picked } from '@crossgear/migration'
import type { Config } from '../../../../config/load-config.ts'
import { type LaneFigures, queuedIn } from '../../../../operations/metrics/store-snapshot.ts'
import type { JobNames } from '../job-names.ts'
import type { FoundJob } from '../job-scan.ts'
import { nodeOfToken, stateOf } from '../job-view.ts'
import { dueReason, vanishedReason, waitingReason } from './job-reason.ts'
import { type LaneFacts, laneReason, type LimitFact, type PauseFact } from './lane-reason.ts'
import type { Reason } from './reason.ts'

/** Jobs whose reasons are asked for in one call to the store, about half a millisecond of its time. */
const jobsPerCall = 100

interface Parts {
  readonly scheduler: Scheduler
  readonly config: () => Config
  readonly names: JobNames
  readonly fleet: Pick<Fleet, 'goneWith'>
}

/** When the workers that have gone with leases were last there, milliseconds since 1970, by token. */
interface Vanished {
  /** Noted in the store: of jobs that go back a fixed time later. */
  readonly noted: ReadonlyMap<string, number>
  /** Known to their gateway alone: of jobs that go back when their lease ends. */
  readonly known: ReadonlyMap<string, number>
}

/** Says why jobs, and those of whole lanes, wait: the one place that decides it. */
export class WaitReasons {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** For each lane, in their order; null: nothing of it waits. */
  async ofLanes(lanes: readonly LaneFigures[]): Promise<readonly (Reason | null)[]> {
    const waiting = lanes.filter(({ counts }) => queuedIn(counts) > 0)
    const facts = await this.#factsOf(new Map(waiting.map(({ counts }) => [counts.lane, []])))
    return lanes.map(({ counts, fn }) => {
      const known = facts.get(counts.lane)?.lane ?? this.#laneFacts(counts.lane)
      return laneReason(known, queuedIn(counts), this.#limitOf(fn)?.per)
    })
  }

  /** For each job, in their order; null: it waits for nothing. */
  async ofJobs(found: readonly FoundJob[]): Promise<readonly (Reason | null)[]> {
    const reasons: (Reason | null)[] = []
    for (let at = 0; at < found.length; at += jobsPerCall) {
      reasons.push(...(await this.#ofSome(found.slice(at, at + jobsPerCall))))
    }
    return reasons
  }

  async #ofSome(found: readonly FoundJob[]): Promise<readonly (Reason | null)[]> {
    const ids = new Map<string, number[]>()
    const held: (JobState & { readonly token: string })[] = []
    for (const { job, placed } of found) {
      const state = stateOf(job, placed)
      const { token } = job
      if (state === 'waiting') ids.set(job.lane, [...(ids.get(job.lane) ?? []), job.id])
      if (state === 'running' && token !== undefined && holderOf(token) === 'consumer') {
        held.push({ ...job, token })
      }
    }
    const [facts, noted, known] = await Promise.all([
      this.#factsOf(ids),
      this.#parts.scheduler.inspect.vanishedWith(held.map(({ token }) => token)),
      this.#goneWith(held.filter(({ door }) => door === 'faktory').map(({ token }) => token)),
    ])
    const vanished = { noted, known }
    return found.map((one) => this.#ofJob(one, facts, vanished))
  }

  /** A Faktory worker may end its own jobs at any time of their lease: no store notes who has them. */
  async #goneWith(tokens: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { scheduler, fleet } = this.#parts
    const nodes = new Set(tokens.flatMap((token) => nodeOfToken(token) ?? []))
    const goneFor = await fleet.goneWith(tokens, nodes)
    const nowMs = scheduler.storeNowMs()
    return new Map([...goneFor].map(([token, forMs]) => [token, nowMs - forMs]))
  }

  #ofJob(
    { job, placed }: FoundJob,
    facts: ReadonlyMap<string, LaneFactsAnswer>,
    vanished: Vanished,
  ): Reason | null {
    const state = stateOf(job, placed)
    if (state === 'scheduled' || state === 'retry') {
      return dueReason(state, placed.atMs, this.#parts.names.of(job))
    }
    if (state === 'running') return this.#ofRunning({ job, placed }, vanished)
    const known = facts.get(job.lane)
    if (state !== 'waiting' || !known) return null
    const { fn } = this.#parts.scheduler.registry.names.parse(job.lane)
    return waitingReason({
      job,
      lane: known.lane,
      nextId: known.answer.nextId,
      answer: known.answer.jobs[known.ids.indexOf(job.id)] ?? {},
      limit: this.#limitOf(fn),
    })
  }

  #ofRunning({ job: { token = '' }, placed }: FoundJob, { noted, known }: Vanished): Reason | null {
    if (token === '') return null
    if (holderOf(token) === 'named') {
      const node = nodeOfToken(token)
      // Other gateways bring back what a dead one had handed out.
      const isGone = node !== undefined && !this.#parts.scheduler.nodes.has(node)
      return isGone ? vanishedReason() : null
    }
    const sinceMs = noted.get(token)
    if (sinceMs === undefined) {
      const knownMs = known.get(token)
      return knownMs === undefined ? null : vanishedReason(knownMs, placed.atMs)
    }
    const back = Math.min(placed.atMs ?? Infinity, sinceMs + defaultDeadWorkerMs)
    return vanishedReason(sinceMs, back)
  }

  /** One read for all lanes and their jobs, and one for the limits that they have. */
  async #factsOf(
    ids: ReadonlyMap<string, readonly number[]>,
  ): Promise<ReadonlyMap<string, LaneFactsAnswer>> {
    if (ids.size === 0) return new Map()
    const { inspect } = this.#parts.scheduler
    const questions = [...ids].map(([lane, of]) => ({ lane, ids: of }))
    const [answers, limits] = await Promise.all([
      inspect.waits(questions),
      this.#limitFacts([...ids.keys()]),
    ])
    return new Map(
      questions.map(({ lane, ids: of }, at) => {
        const answer = answers[at] ?? unknownLane
        return [lane, { answer, ids: of, lane: this.#laneFacts(lane, answer, limits.get(lane)) }]
      }),
    )
  }

  #laneFacts(
    lane: string,
    answer: LaneAnswer = unknownLane,
    limits: readonly LimitFact[] = [],
  ): LaneFacts {
    const { queues, registry } = this.#parts.scheduler
    const { fn, queue } = registry.names.parse(lane)
    const pausedName = [fn, lane].find((name) => queues.pausedFunctions.has(name))
    const pauseOf = (kind: 'queue' | 'function', name: string): PauseFact => ({
      name,
      note: queues.pauseOf(kind, name),
    })
    return {
      ...answer,
      lane,
      limits,
      pausedFunction: pausedName === undefined ? undefined : pauseOf('function', pausedName),
      pausedQueue: queues.paused.has(queue) ? pauseOf('queue', queue) : undefined,
    }
  }

  async #limitFacts(lanes: readonly string[]): Promise<ReadonlyMap<string, readonly LimitFact[]>> {
    const { registry, inspect } = this.#parts.scheduler
    const wanted = new Map<string, { readonly of: LimitFact['of']; readonly limit: Throttle }>()
    const namesOf = new Map(
      lanes.map((lane) => {
        const { fn, queue } = registry.names.parse(lane)
        const ofFunction = this.#limitOf(fn)
        const ofQueue = this.#parts.config().throttles.get(queue)
        const own: string[] = []
        // Each value has the limit for itself where jobs take turns.
        if (ofFunction && ofFunction.per === undefined) {
          wanted.set(functionLimit(fn), { of: 'route', limit: ofFunction })
          own.push(functionLimit(fn))
        }
        if (ofQueue) {
          wanted.set(queue, { of: 'queue', limit: ofQueue })
          own.push(queue)
        }
        return [lane, own] as const
      }),
    )
    const limits = [...wanted].map(([name, { limit }]) => [name, limit] as const)
    if (limits.length === 0) return new Map()
    const answers = await inspect.limits(limits, this.#parts.scheduler.storeNowMs())
    const facts = new Map(
      [...wanted].map(([name, { of, limit }], at): [string, LimitFact] => {
        const answer = answers[at] ?? { running: 0 }
        return [name, { of, ...picked(limit, ['concurrency', 'perWorker']), ...answer }]
      }),
    )
    return new Map(
      [...namesOf].map(([lane, own]) => [lane, own.flatMap((name) => facts.get(name) ?? [])]),
    )
  }

  #limitOf(fn: string) {
    return this.#parts.config().routes.get(fn)?.limit
  }
}

interface LaneFactsAnswer {
  readonly answer: LaneAnswer
  readonly ids: readonly number[]
  readonly lane: LaneFacts
}

/** A lane that was not asked about. */
const unknownLane: LaneAnswer = {
  openness: 'auto',
  namedWorkers: 0,
  consumers: 0,
  workers: 0,
  jobs: [],
}
