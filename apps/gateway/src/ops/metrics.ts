import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { MetricObjectWithValues, MetricValue } from 'prom-client'
import { BoundedLabels } from './bounded-labels.ts'

/** Jobs of one function in one state, as the store counts them. */
export interface JobCount {
  readonly function: string
  readonly state: string
  readonly n: number
}

/** Functions are named by clients: more than this many would make a scrape grow without bound. */
const MAX_FUNCTION_LABELS = 500
const JOBS = 'crossgear_jobs'
/** A store that does not answer must not hold up a scrape. */
const COUNTS_TIMEOUT_MS = 2000

/** Metrics with their values, as prom-client passes them between processes. */
export type Figures = readonly MetricObjectWithValues<MetricValue<string>>[]

/** From a millisecond, which an idle worker takes, to an hour. */
const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30, 300, 3600]

/** What one door reports. `n` is for a batch; 1 if left out. */
export interface DoorMetrics {
  submitted(n?: number): void
  completed(n?: number): void
  failed(n?: number): void
  retried(n?: number): void
  /** From the moment that a job was due to the moment that a worker got it. */
  waited(seconds: number): void
  /** From the moment that a worker got a job to its outcome. */
  ran(seconds: number): void
  /** `n` may be 0, so that a door without connections has a figure. */
  connectionOpened(n?: number): void
  connectionClosed(): void
  /** `reason` is a word of the code, never of a client. */
  rejected(reason: string): void
  /** Nothing more is read from a peer for now. */
  heldBack(): void
}

/** All figures of a gateway, on a registry of their own. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #submitted = this.#doorCounter('submitted', 'Jobs that were accepted, by door')
  readonly #completed = this.#doorCounter(
    'completed',
    'Jobs that succeeded, by the door of the job',
  )
  readonly #failed = this.#doorCounter('failed', 'Failures for good, by the door of the job')
  readonly #retried = this.#doorCounter(
    'retried',
    'Runs that ended with the job queued or due again, by the door of the job',
  )
  readonly #wait = this.#doorHistogram('wait', 'Time from due to the start of the run')
  readonly #run = this.#doorHistogram('run', 'Time from the start of the run to its outcome')
  readonly #connections: Gauge<'door'>
  readonly #rejected: Counter<'door' | 'reason'>
  readonly #heldBack: Counter<'door'>
  readonly #repairs: Counter<'kind' | 'done'>
  readonly #unconfirmed: Counter<'what'>
  readonly #storeUp: Gauge
  readonly #closedWaiting: Gauge
  readonly #functions = new BoundedLabels(MAX_FUNCTION_LABELS)
  #counts: () => Promise<readonly JobCount[]> = () => Promise.resolve([])

  constructor() {
    const registers = [this.#registry]
    collectDefaultMetrics({ register: this.#registry })
    this.#connections = new Gauge({
      name: 'crossgear_connections',
      help: 'Open connections, by door',
      labelNames: ['door'],
      registers,
    })
    this.#rejected = new Counter({
      name: 'crossgear_rejected_total',
      help: 'What a limit or a rule turned away, by door and reason',
      labelNames: ['door', 'reason'],
      registers,
    })
    this.#heldBack = new Counter({
      name: 'crossgear_held_back_total',
      help: 'Times that nothing more was read from a peer, because of what waits for it or of it, by door',
      labelNames: ['door'],
      registers,
    })
    this.#repairs = new Counter({
      name: 'crossgear_repairs_total',
      help: 'What native programs left behind (busy, stray, count), put right or only found (done yes, no)',
      labelNames: ['kind', 'done'],
      registers,
    })
    this.#unconfirmed = new Counter({
      name: 'crossgear_unconfirmed_total',
      help: 'Jobs (refused) and outcomes (told all the same) in the store that are not as durable as --durability asks, by what (submissions, outcomes)',
      labelNames: ['what'],
      registers,
    })
    this.#closedWaiting = new Gauge({
      name: 'crossgear_closed_functions_waiting',
      help: 'Functions closed to Faktory consumers whose jobs wait without workers by name, while consumers are there',
      aggregator: 'max',
      registers,
    })
    this.#storeUp = new Gauge({
      name: 'crossgear_store_up',
      help: '1 while the store answers, else 0',
      aggregator: 'min',
      registers,
    })
    const jobs: Gauge<'function' | 'state'> = new Gauge({
      name: JOBS,
      help: `Jobs in the store, by function (${MAX_FUNCTION_LABELS} at most, the rest is "other") and state`,
      labelNames: ['function', 'state'],
      registers,
      collect: () => this.#collectJobs(jobs),
    })
  }

  /** The figures of one door. Ask once and keep it. */
  door(door: string): DoorMetrics {
    return {
      submitted: (n = 1) => this.#submitted.inc({ door }, n),
      completed: (n = 1) => this.#completed.inc({ door }, n),
      failed: (n = 1) => this.#failed.inc({ door }, n),
      retried: (n = 1) => this.#retried.inc({ door }, n),
      waited: (seconds) => this.#wait.observe({ door }, seconds),
      ran: (seconds) => this.#run.observe({ door }, seconds),
      connectionOpened: (n = 1) => this.#connections.inc({ door }, n),
      connectionClosed: () => this.#connections.dec({ door }),
      rejected: (reason) => this.#rejected.inc({ door, reason }),
      heldBack: () => this.#heldBack.inc({ door }),
    }
  }

  /** `kind` is a word of the code. */
  repaired(kind: string, isDone: boolean): void {
    this.#repairs.inc({ kind, done: isDone ? 'yes' : 'no' })
  }

  unconfirmed(what: 'submissions' | 'outcomes', n: number): void {
    this.#unconfirmed.inc({ what }, n)
  }

  closedWaiting(functions: number): void {
    this.#closedWaiting.set(functions)
  }

  storeUp(isUp: boolean): void {
    this.#storeUp.set(isUp ? 1 : 0)
  }

  /** Names the source of `crossgear_jobs`, asked at each scrape. */
  countJobsWith(counts: () => Promise<readonly JobCount[]>): void {
    this.#counts = counts
  }

  /** The figures as data, to be added to those of other processes; with or without what the store counts. */
  async figures(withJobs: boolean): Promise<Figures> {
    const names = this.#registry.getMetricsAsArray().map(({ name }) => name)
    const wanted = names.filter((name) => withJobs || name !== JOBS)
    const metrics = wanted.map(async (name) => this.#registry.getSingleMetric(name)?.get())
    return (await Promise.all(metrics)).filter((figure) => figure !== undefined)
  }

  /** The page that Prometheus reads. */
  async render(): Promise<{ contentType: string; body: string }> {
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() }
  }

  /** Without an answer of the store there are no such figures, and the rest of the page stands. */
  async #collectJobs(gauge: Gauge<'function' | 'state'>): Promise<void> {
    gauge.reset()
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<readonly JobCount[]>((resolve) => {
      timer = setTimeout(resolve, COUNTS_TIMEOUT_MS, [])
    })
    const rows = await Promise.race([this.#counts(), tooLate]).catch(() => [])
    clearTimeout(timer)
    const labels = this.#functions.assign(rows.map((row) => row.function))
    for (const { function: name, state, n } of rows) {
      gauge.inc({ function: labels.get(name) ?? name, state }, n)
    }
  }

  #doorCounter(word: string, help: string): Counter<'door'> {
    const name = `crossgear_jobs_${word}_total`
    return new Counter({ name, help, labelNames: ['door'], registers: [this.#registry] })
  }

  #doorHistogram(word: string, help: string): Histogram<'door'> {
    return new Histogram({
      name: `crossgear_job_${word}_seconds`,
      help,
      labelNames: ['door'],
      buckets: SECONDS_BUCKETS,
      registers: [this.#registry],
    })
  }
}
