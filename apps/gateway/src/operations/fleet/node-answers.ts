import { hostname } from 'node:os'
import type { Assignment, Clock, JobRef, Scheduler } from '@crossgear/core-scheduler'
import { parseJson } from '../../json.ts'
import type { WorkerSource } from '../../doors/net/door.ts'
import type { Hands } from '../../doors/net/census.ts'
import type { ConnectedWorker } from '../../doors/net/connected-worker.ts'

/** Nodes only answer questions of this form: others are of another version. */
const form = 1
/** Names of one worker that are listed, and functions and queues of a node. */
const maxNames = 100
const maxSums = 1_000

/** Which workers are meant. All. */
export interface WorkerFilter {
  /** The name of the worker at its node. */
  readonly name?: string | undefined
  /** Only workers that named a function or fetch from a queue, or have a job of it. */
  readonly function?: string | undefined
  readonly queue?: string | undefined
  /** Only workers with a job, or without one. */
  readonly busy?: boolean | undefined
}

/** Asks a node for some of its workers, each with some of its jobs. */
export interface WorkersQuestion {
  readonly ask: 'workers'
  readonly filter: WorkerFilter
  readonly from: number
  readonly count: number
  readonly jobsFrom: number
  readonly jobs: number
  /** With the sums of all its workers. */
  readonly sums: boolean
  /** Workers are in the order of their names, where none is given. */
  readonly order?: WorkerOrder | undefined
}

/** By a time, milliseconds; workers without one are the shortest. */
export interface WorkerOrder {
  readonly by: 'held' | 'beat'
  readonly order: 'asc' | 'desc'
}

/** Asks for the worker of a job. */
export interface HolderQuestion extends JobRef {
  readonly ask: 'holder'
  readonly token: string
}

/** Asks which leases are of workers that have gone away, of some or of all. */
export interface GoneQuestion {
  readonly ask: 'gone'
  readonly tokens?: readonly string[]
}

export type Question = { readonly ask: 'about' } | WorkersQuestion | HolderQuestion | GoneQuestion

/** A job of a worker, and for how long, milliseconds. */
export interface HeldView extends JobRef {
  readonly token: string
  readonly forMs: number
}

export type WorkerView = Omit<ConnectedWorker, 'jobs' | 'lastBeatMs' | 'goneMs'> & {
  readonly functionCount: number
  readonly beatAgoMs?: number | undefined
  readonly jobCount: number
  readonly jobs: readonly HeldView[]
}

export interface WorkerSums {
  readonly doors: readonly {
    readonly door: string
    readonly clients: number
    readonly bytesIn: number
    readonly bytesOut: number
  }[]
  readonly functions: readonly ({ readonly function: string; readonly door: string } & Hands)[]
  readonly queues: readonly ({ readonly queue: string } & Hands)[]
}

export interface Answers {
  about: {
    readonly host: string
    readonly pid: number
    readonly version: string
    readonly uptimeMs: number
    readonly doors: readonly { readonly door: string; readonly address: string }[]
    readonly workers: number
    readonly jobs: number
  }
  workers: {
    /** Workers that fit the filter. */
    readonly total: number
    readonly workers: readonly WorkerView[]
    readonly sums?: WorkerSums
  }
  holder: {
    readonly worker: WorkerView | null
    /** For how long the worker has had the job, milliseconds. */
    readonly forMs?: number
  }
  gone: {
    /** Leases of workers that have gone, and for how long these have been away. */
    readonly leases: readonly HeldView[]
  }
}

export interface AnswerParts {
  readonly scheduler: Scheduler
  readonly doors: () => readonly WorkerSource[]
  readonly clock: Clock
  readonly version: string
}

/** Rows in the order of their times. */
export function inOrder<Row extends { readonly forMs: number | undefined }>(
  rows: readonly Row[],
  { order }: WorkerOrder,
): readonly Row[] {
  const sign = order === 'asc' ? 1 : -1
  return rows.toSorted((one, other) => sign * ((one.forMs ?? -1) - (other.forMs ?? -1)))
}

export function questionText(question: Question): string {
  return JSON.stringify({ form, ...question })
}

/** Answers questions about the workers of this node from its memory; nothing of it asks the store. */
export class NodeAnswers {
  readonly #parts: AnswerParts
  readonly #startedMs: number

  constructor(parts: AnswerParts) {
    this.#parts = parts
    this.#startedMs = parts.clock.nowMs()
  }

  /** The answer to a text of {@link questionText}; undefined for any other. */
  answer(text: string): string | undefined {
    const question = parseJson(text) as Question & { readonly form: number }
    const answer = question.form === form ? this.#answerTo(question) : undefined
    return answer && JSON.stringify(answer)
  }

  /** Undefined for a question of another version. */
  #answerTo(question: Question): Answers[Question['ask']] | undefined {
    switch (question.ask) {
      case 'about':
        return this.#about()
      case 'workers':
        return this.#listed(question)
      case 'holder':
        return this.#holder(question)
      case 'gone':
        return this.#gone(question)
      default:
        return undefined
    }
  }

  #about(): Answers['about'] {
    const { version, doors, clock, scheduler } = this.#parts
    return {
      host: hostname(),
      pid: process.pid,
      version,
      jobs: scheduler.running,
      uptimeMs: clock.nowMs() - this.#startedMs,
      doors: doors().flatMap(({ name, address }) =>
        address ? [{ door: name, address: `${address.host}:${address.port}` }] : [],
      ),
      workers: [...this.#workers()].length,
    }
  }

  #listed(question: WorkersQuestion): Answers['workers'] {
    const { filter, from, count, sums } = question
    const fitting = [...this.#workers()].filter((worker) => this.#fits(worker, filter))
    const workers = this.#ordered(fitting, question.order)
      .slice(from, from + count)
      .map((worker) => this.#view(worker, question.jobsFrom, question.jobs))
    return { total: fitting.length, workers, ...(sums && { sums: this.#sums() }) }
  }

  #ordered(
    workers: readonly ConnectedWorker[],
    order: WorkerOrder | undefined,
  ): readonly ConnectedWorker[] {
    if (!order) return workers
    const times = workers.map((worker) => {
      const { lastBeatMs } = worker
      const sinceMs = order.by === 'beat' ? lastBeatMs : this.#held(worker)[0]?.sinceMs
      return { worker, forMs: this.#forMs(sinceMs) }
    })
    return inOrder(times, order).map(({ worker }) => worker)
  }

  #forMs(sinceMs: number | undefined): number | undefined {
    return sinceMs === undefined ? undefined : this.#parts.clock.nowMs() - sinceMs
  }

  #holder({ token }: HolderQuestion): Answers['holder'] {
    for (const worker of this.#workers()) {
      for (const { job, sinceMs } of worker.jobs) {
        if (job.token !== token) continue
        return { worker: this.#view(worker, 0, 0), forMs: this.#parts.clock.nowMs() - sinceMs }
      }
    }
    return { worker: null }
  }

  #gone({ tokens }: GoneQuestion): Answers['gone'] {
    const wanted = tokens && new Set(tokens)
    const nowMs = this.#parts.clock.nowMs()
    const leases: HeldView[] = []
    for (const worker of this.#workers()) {
      const { goneMs } = worker
      if (goneMs === undefined) continue
      for (const { job } of this.#held(worker)) {
        const { lane, id, token } = job
        if (wanted?.has(token) === false) continue
        if (leases.length < maxSums) leases.push({ lane, id, token, forMs: nowMs - goneMs })
      }
    }
    return { leases }
  }

  *#workers(): Generator<ConnectedWorker> {
    for (const door of this.#parts.doors()) yield* door.connectedWorkers()
  }

  #fits(worker: ConnectedWorker, { name, function: fn, queue, busy }: WorkerFilter): boolean {
    const { names } = this.#parts.scheduler.registry
    if (name !== undefined && name !== worker.name) return false
    const needsJobs = fn !== undefined || queue !== undefined || busy !== undefined
    const jobs = needsJobs ? this.#held(worker) : []
    const lanes = jobs.map(({ job }) => names.parse(job.lane))
    const named = worker.functions.map((one) => names.parse(one).fn)
    return (
      (busy === undefined || busy === jobs.length > 0) &&
      (fn === undefined || named.includes(fn) || lanes.some((lane) => lane.fn === fn)) &&
      (queue === undefined ||
        worker.queues.includes(queue) ||
        lanes.some((lane) => lane.queue === queue))
    )
  }

  /** Without leases that have ended elsewhere. */
  #held({ jobs }: ConnectedWorker): readonly Assignment[] {
    return [...jobs].filter(({ job }) => this.#parts.scheduler.isHeld(job.token))
  }

  #view(worker: ConnectedWorker, from: number, count: number): WorkerView {
    const nowMs = this.#parts.clock.nowMs()
    const { lastBeatMs, goneMs: _gone, functions, queues, ...rest } = worker
    const held = this.#held(worker)
    return {
      ...rest,
      functions: functions.slice(0, maxNames),
      functionCount: functions.length,
      queues: queues.slice(0, maxNames),
      ...(lastBeatMs !== undefined && { beatAgoMs: nowMs - lastBeatMs }),
      jobCount: held.length,
      jobs: held.slice(from, from + count).map(({ job, sinceMs }) => {
        const { lane, id, token } = job
        return { lane, id, token, forMs: nowMs - sinceMs }
      }),
    }
  }

  #sums(): WorkerSums {
    const census = this.#parts.doors().map((door) => ({ door: door.name, ...door.census() }))
    return {
      doors: census.map(({ door, clients, bytesIn, bytesOut }) => {
        return { door, clients, bytesIn, bytesOut }
      }),
      functions: census
        .flatMap(({ door, byFunction }) =>
          [...byFunction].map(([fn, hands]) => ({ function: fn, door, ...hands })),
        )
        .slice(0, maxSums),
      queues: census
        .flatMap(({ byQueue }) => [...byQueue].map(([queue, hands]) => ({ queue, ...hands })))
        .slice(0, maxSums),
    }
  }
}
