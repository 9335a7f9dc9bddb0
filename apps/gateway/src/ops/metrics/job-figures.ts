import {
  type Door,
  type EndedRun,
  type LaneNames,
  maxLanes,
  type Lease,
} from '@crossgear/core-scheduler'
import { counter, type Figure, type FigureValue, histogram } from './figure.ts'
import type { BoundedLabels } from './labels.ts'
import { Latencies, latencyBuckets } from './latencies.ts'

const doors: readonly Door[] = ['gearman', 'faktory', 'http', 'native']
const placeOf: Readonly<Record<Door, number>> = { gearman: 0, faktory: 1, http: 2, native: 3 }
/** The door of a worker, by how it came to its job. */
const doorOf: Readonly<Record<EndedRun['by'], Door>> = {
  named: 'gearman',
  consumer: 'faktory',
  native: 'native',
}

const counters = {
  submitted: 'Jobs that this node stored',
  coalesced: 'Submissions that joined a job with the same unique id',
  completed: 'Runs that succeeded',
  failed: 'Runs that ended in failure for good',
  retried: 'Runs that ended with the job queued or due again',
  lost: 'Runs whose worker vanished or ran out of time',
  cancelled: 'Jobs that an operator ended one by one',
}
type Counter = keyof typeof counters
const counterNames = Object.keys(counters) as readonly Counter[]

type Times = (Latencies | undefined)[]

/** What is counted of one function. */
class FunctionFigures {
  readonly label: string
  /** By door. */
  readonly counts: Readonly<Record<Counter, number[]>> = {
    submitted: [0, 0, 0, 0],
    coalesced: [0, 0, 0, 0],
    completed: [0, 0, 0, 0],
    failed: [0, 0, 0, 0],
    retried: [0, 0, 0, 0],
    lost: [0, 0, 0, 0],
    cancelled: [0, 0, 0, 0],
  }
  /** By the pair of doors: a job's door times 4, and its worker's. */
  readonly waits: Times = []
  readonly runs: Times = []

  constructor(label: string) {
    this.label = label
  }
}

/** What this node counts of jobs, by function and door: a job costs a few additions, no labels are put together. */
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
    this.#count(this.#of(lane), how === 'created' ? 'submitted' : 'coalesced', door)
  }

  assigned({ lane, door, heldBy, waitedMs }: Lease): void {
    if (waitedMs === undefined) return
    timesOf(this.#of(lane).waits, door, doorOf[heldBy]).observe(waitedMs / 1000)
  }

  ended({ lane, door, by, end, runMs }: EndedRun): void {
    const figures = this.#of(lane)
    this.#count(figures, end, door)
    if (runMs !== undefined) timesOf(figures.runs, door, doorOf[by]).observe(runMs / 1000)
  }

  cancelled(lane: string, door: Door): void {
    this.#count(this.#of(lane), 'cancelled', door)
  }

  /** These functions are gone, and others may have their labels. */
  forget(functions: readonly string[]): void {
    for (const fn of functions) this.#byLabel.delete(fn)
    this.#byLane.clear()
  }

  figures(): Figure[] {
    const all = [...this.#byLabel.values()]
    return [
      ...counterNames.map((name) => counterFigure(name, all)),
      timesFigure('wait', 'Time from due to the start of the run', all, ({ waits }) => waits),
      timesFigure('run', 'Time from the start of the run to its end', all, ({ runs }) => runs),
    ]
  }

  #count({ counts }: FunctionFigures, counter: Counter, door: Door): void {
    const place = placeOf[door]
    const of = counts[counter]
    of[place] = (of[place] ?? 0) + 1
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

function timesOf(times: Times, doorIn: Door, doorOut: Door): Latencies {
  return (times[placeOf[doorIn] * doors.length + placeOf[doorOut]] ??= new Latencies())
}

/** Of a function and a door all counters are there as soon as one has counted. */
function counterFigure(name: Counter, all: readonly FunctionFigures[]): Figure {
  const values: FigureValue[] = []
  for (const { label, counts } of all) {
    for (const [place, door] of doors.entries()) {
      if (!counterNames.some((one) => (counts[one][place] ?? 0) > 0)) continue
      values.push({ labels: { function: label, door }, value: counts[name][place] ?? 0 })
    }
  }
  const help = `${counters[name]}, by function and the door of the job`
  return counter(`crossgear_jobs_${name}_total`, help, values)
}

function timesFigure(
  word: string,
  help: string,
  all: readonly FunctionFigures[],
  timesIn: (figures: FunctionFigures) => Times,
): Figure {
  const name = `crossgear_job_${word}_seconds`
  const values: FigureValue[] = []
  for (const figures of all) {
    for (const [pair, times] of timesIn(figures).entries()) {
      if (!times) continue
      const labels = {
        function: figures.label,
        door_in: doors[Math.floor(pair / doors.length)] ?? '',
        door_out: doors[pair % doors.length] ?? '',
      }
      let total = 0
      for (const [at, count] of times.counts.entries()) {
        total += count
        const le = latencyBuckets[at] ?? '+Inf'
        values.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value: total })
      }
      values.push({ metricName: `${name}_sum`, labels, value: times.sum })
      values.push({ metricName: `${name}_count`, labels, value: total })
    }
  }
  const where = 'by function, the door of the job and that of its worker'
  return histogram(name, `${help}, ${where}`, values)
}
