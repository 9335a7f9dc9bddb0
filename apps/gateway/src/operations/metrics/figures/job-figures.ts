import { maxLanes } from '@crossgear/core-scheduler'
import type {
  Door,
  DroppedJob,
  EndedRun,
  JobAct,
  LaneNames,
  Lease,
} from '@crossgear/core-scheduler'
import type { Metric } from 'prom-client'
import { counter } from '../figure.ts'
import {
  actCounters,
  actNames,
  counterNames,
  FunctionFigures,
  jobCounters,
  type JobCounter,
} from './function-figures.ts'
import { histogram } from '../buckets.ts'
import type { BoundedLabels } from '../labels.ts'

const doorPair = 'by function, the door of the job and that of its worker'

/** Counters of jobs at this node, by function and door. */
export class JobFigures {
  readonly #names: LaneNames
  readonly #labels: BoundedLabels
  readonly #byLane = new Map<string, FunctionFigures>()
  readonly #byLabel = new Map<string, FunctionFigures>()

  constructor(names: LaneNames, labels: BoundedLabels) {
    this.#names = names
    this.#labels = labels
  }

  submitted(lane: string, door: Door, how: 'created' | 'joined'): void {
    this.#of(lane).count(how === 'created' ? 'submitted' : 'coalesced', door)
  }

  assigned({ lane, door, heldBy, waitedMs, trace }: Lease): void {
    if (waitedMs !== undefined) this.#of(lane).time('wait', door, heldBy, waitedMs, trace)
  }

  ended({ lane, door, by, end, runMs, trace }: EndedRun): void {
    const figures = this.#of(lane)
    figures.count(end, door)
    if (runMs !== undefined) figures.time('run', door, by, runMs, trace)
  }

  dropped(lane: string, door: Door, how: DroppedJob['how']): void {
    this.#of(lane).count(how, door)
  }

  acted(lane: string, act: JobAct, jobs: number): void {
    this.#of(lane).acts[act] += jobs
  }

  /** These functions are gone; their labels may be reused. */
  forget(functions: readonly string[]): void {
    for (const fn of functions) this.#byLabel.delete(fn)
    this.#byLane.clear()
  }

  figures(): readonly Metric[] {
    const all = [...this.#byLabel.values()]
    const waits = all.flatMap((figures) => figures.times('wait'))
    const runs = all.flatMap((figures) => figures.times('run'))
    return [
      ...counterNames.map((name) => counterFigure(name, all)),
      ...actNames.map((name) => actFigure(name, all)),
      histogram(
        'crossgear_job_wait_seconds',
        `Time from due to the start of the run, ${doorPair}`,
        waits,
      ),
      histogram(
        'crossgear_job_run_seconds',
        `Time from the start of the run to its end, ${doorPair}`,
        runs,
      ),
    ]
  }

  #of(lane: string): FunctionFigures {
    const known = this.#byLane.get(lane)
    if (known) return known
    const label = this.#labels.of(this.#names.parse(lane).fn)
    const figures = this.#byLabel.get(label) ?? new FunctionFigures(label)
    this.#byLabel.set(label, figures)
    if (this.#byLane.size >= maxLanes) this.#byLane.clear()
    this.#byLane.set(lane, figures)
    return figures
  }
}

function counterFigure(name: JobCounter, all: readonly FunctionFigures[]): Metric {
  return counter(
    `crossgear_jobs_${name}_total`,
    `${jobCounters[name]}, by function and the door of the job`,
    all.flatMap(({ counters }) => counters.map(({ labels, counts }) => [labels, counts[name]])),
  )
}

function actFigure(act: JobAct, all: readonly FunctionFigures[]): Metric {
  const functions = all.filter(({ acts }) => acts[act] > 0)
  return counter(
    `crossgear_jobs_${act}_total`,
    `${actCounters[act]}, by function`,
    functions.map(({ label, acts }) => [{ function: label }, acts[act]]),
  )
}
