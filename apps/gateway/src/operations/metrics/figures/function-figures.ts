import type { Door, EndedRun, JobAct } from '@crossgear/core-scheduler'
import { doorsOfJobs } from '../../../doors/names.ts'
import type { Labels } from '../figure.ts'
import { sampledTraceId } from '../../tracing/trace-context.ts'
import { Buckets } from '../buckets.ts'

/** From a millisecond, for an idle worker, to an hour, in seconds. */
const latencyBounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300, 3600]
/** The last stands for doors of other gateways on the store. */
const labels = [...doorsOfJobs, 'other']
const places: ReadonlyMap<Door, number> = new Map(labels.map((door, place) => [door, place]))
const placeOf = (door: Door): number => places.get(door) ?? labels.length - 1
/** The door of a worker, by how it got its job. */
const doorOf: Readonly<Record<EndedRun['by'], Door>> = {
  named: 'gearman',
  consumer: 'faktory',
  native: 'native',
}

/** Counters, and their help texts. */
export const jobCounters = {
  submitted: 'Jobs that this node stored',
  coalesced: 'Submissions that joined a job with the same unique id',
  completed: 'Runs that succeeded',
  failed: 'Jobs that failed for good and are not kept',
  died: 'Jobs that failed for good and are kept among the dead',
  retried: 'Runs that failed with the job due again',
  interrupted: 'Runs without an outcome: the worker vanished, ran out of time or gave the job back',
  lost: 'Jobs that were given up because too many workers vanished with them, and are not kept',
  expired:
    'Jobs that were dropped when a worker would have got them: too late, or no client waited for them any more',
} as const
export type JobCounter = keyof typeof jobCounters
export const counterNames = Object.keys(jobCounters) as readonly JobCounter[]

/** Counters of an operator's acts, and their help texts. */
export const actCounters: Readonly<Record<JobAct, string>> = {
  cancelled: 'Jobs that an operator cancelled',
  deleted: 'Jobs that an operator deleted, with a queue, a function or all others too',
  moved: 'Jobs that an operator moved to another queue',
  requeued: 'Scheduled and dead jobs that an operator put into their queue',
  killed: 'Scheduled jobs that an operator put among the dead',
}
export const actNames = Object.keys(actCounters) as readonly JobAct[]

function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>
}

/** Counters of the jobs of one door. */
interface DoorCounters {
  readonly labels: Labels
  readonly counts: Record<JobCounter, number>
}

/** Counters of one function: a job costs a few additions and builds no labels. */
export class FunctionFigures {
  readonly label: string
  readonly acts = zeros(actNames)
  /** By door; created with a door's first job. */
  readonly #doors: (DoorCounters | undefined)[] = []
  /** By pair of doors: a job's door times the number of labels, plus its worker's. */
  readonly #times: Readonly<Record<'wait' | 'run', (Buckets | undefined)[]>> = {
    wait: [],
    run: [],
  }

  constructor(label: string) {
    this.label = label
  }

  count(counter: JobCounter, door: Door): void {
    const place = placeOf(door)
    const of = (this.#doors[place] ??= {
      labels: { function: this.label, door: labels[place] },
      counts: zeros(counterNames),
    })
    of.counts[counter] += 1
  }

  /** How long a job waited, or ran. */
  time(what: 'wait' | 'run', doorIn: Door, by: EndedRun['by'], ms: number, trace?: string): void {
    const [from, to] = [placeOf(doorIn), placeOf(doorOf[by])]
    const times = (this.#times[what][from * labels.length + to] ??= new Buckets(
      { function: this.label, door_in: labels[from], door_out: labels[to] },
      latencyBounds,
    ))
    times.observe(ms / 1000, trace === undefined ? undefined : sampledTraceId(trace))
  }

  get counters(): readonly DoorCounters[] {
    return this.#doors.filter((door) => door !== undefined)
  }

  times(what: 'wait' | 'run'): readonly Buckets[] {
    return this.#times[what].filter((times) => times !== undefined)
  }
}
