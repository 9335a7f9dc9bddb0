import { LaneNames } from '@crossgear/core-scheduler'
import { collectDefaultMetrics, Counter, Gauge, type Metric, Registry } from 'prom-client'
import { CallFigures } from './figures/call-figures.ts'
import { counter, only, registers } from './figure.ts'
import { JobFigures } from './figures/job-figures.ts'
import { BoundedLabels } from './labels.ts'

/** Reports of one door about its connections. */
export interface DoorMetrics {
  connectionOpened(): void
  /** `reason`: why the gateway ended it; absent for a normal end. */
  connectionClosed(reason?: string): void
  /** `reason`: a word of the code, never of a client. */
  rejected(reason: string): void
  /** Reading from a peer was paused. */
  heldBack(): void
}

/** Defaults at the end of each line. */
export interface MetricsOptions {
  /** Most functions with a label of their own. 500. */
  readonly functions?: number
  /** Functions of lanes. Home queues are `default`. */
  readonly names?: LaneNames
}

/** Reason of a connection that ended normally. */
const usualEnd = 'ended'

/** Counters of this process. */
export class Metrics {
  /** Figures about calls to the store. */
  readonly calls = new CallFigures()
  /** Counters of jobs. */
  readonly jobs: JobFigures
  /** Functions with labels, here and in the store's figures. */
  readonly labels: BoundedLabels
  readonly #names: LaneNames
  readonly #process = new ProcessFigures()
  readonly #connections = new Gauge({
    name: 'crossgear_connections',
    help: 'Open connections, by door',
    labelNames: ['door'],
    registers,
  })
  readonly #accepted = new Counter({
    name: 'crossgear_connections_accepted_total',
    help: 'Accepted connections, by door',
    labelNames: ['door'],
    registers,
  })
  readonly #closed = new Counter({
    name: 'crossgear_connections_closed_total',
    help: 'Closed connections, by door and the reason of the gateway (ended: the peer closed it, or the gateway stops)',
    labelNames: ['door', 'reason'],
    registers,
  })
  readonly #rejected = new Counter({
    name: 'crossgear_rejected_total',
    help: 'Refusals by a limit or a rule, by door and reason',
    labelNames: ['door', 'reason'],
    registers,
  })
  readonly #heldBack = new Counter({
    name: 'crossgear_held_back_total',
    help: 'How often the gateway stopped reading from a peer, because too much waited for it or from it, by door',
    labelNames: ['door'],
    registers,
  })
  readonly #repairs = new Counter({
    name: 'crossgear_repairs_total',
    help: 'Orphans of native programs (busy, stray, count), repaired or only found (done yes, no)',
    labelNames: ['kind', 'done'],
    registers,
  })
  readonly #unconfirmed = new Counter({
    name: 'crossgear_unconfirmed_total',
    help: 'Jobs (refused) and outcomes (reported to clients all the same) in the store that are not as durable as --durability asks, by what (submissions, outcomes)',
    labelNames: ['what'],
    registers,
  })
  readonly #closedWaiting = new Gauge({
    name: 'crossgear_closed_functions_waiting',
    help: 'Functions closed to Faktory consumers, without workers by name, whose jobs wait although consumers are there',
    registers,
  })
  readonly #turnsShared = new Counter({
    name: 'crossgear_turns_shared_total',
    help: 'Jobs that share one turn of their function, by why (none: without a value of its key, many: too many values)',
    labelNames: ['function', 'why'],
    registers,
  })
  readonly #loginsFailed = new Counter({
    name: 'crossgear_logins_failed_total',
    help: 'Logins at the web port that failed, by reason (password: a wrong one without a name, person: a wrong name or password, tries: an address with too many)',
    labelNames: ['reason'],
    registers,
  })
  readonly #storeUp = new Gauge({
    name: 'crossgear_store_up',
    help: '1 while the store answers, else 0',
    registers,
  })

  constructor({ functions = 500, names = new LaneNames() }: MetricsOptions = {}) {
    this.#names = names
    this.labels = new BoundedLabels(functions)
    this.jobs = new JobFigures(names, this.labels)
    // Shown from the start: an increase at the first needs the 0 before it.
    for (const what of ['submissions', 'outcomes']) this.#unconfirmed.inc({ what }, 0)
    for (const reason of ['password', 'person', 'tries']) this.#loginsFailed.inc({ reason }, 0)
  }

  /** The figures of one door, which exist from now on. Ask once and keep it. */
  door(door: string): DoorMetrics {
    this.#connections.inc({ door }, 0)
    this.#accepted.inc({ door }, 0)
    this.#closed.inc({ door, reason: usualEnd }, 0)
    return {
      connectionOpened: () => {
        this.#connections.inc({ door })
        this.#accepted.inc({ door })
      },
      connectionClosed: (reason = usualEnd) => {
        this.#connections.dec({ door })
        this.#closed.inc({ door, reason })
      },
      rejected: (reason) => this.#rejected.inc({ door, reason }),
      heldBack: () => this.#heldBack.inc({ door }),
    }
  }

  /** Open connections of a door. */
  async connections(door: string): Promise<number> {
    const { values } = await this.#connections.get()
    return values.find(({ labels }) => labels.door === door)?.value ?? 0
  }

  /** `kind` is a word of the code. */
  repaired(kind: string, isDone: boolean): void {
    this.#repairs.inc({ kind, done: isDone ? 'yes' : 'no' })
  }

  unconfirmed(what: 'submissions' | 'outcomes', n: number): void {
    this.#unconfirmed.inc({ what }, n)
  }

  turnShared(lane: string, why: 'none' | 'many'): void {
    const { fn } = this.#names.parse(lane)
    this.#turnsShared.inc({ function: this.labels.of(fn), why })
  }

  /** `reason` is a word of the code. */
  loginFailed(reason: string): void {
    this.#loginsFailed.inc({ reason })
  }

  closedWaiting(functions: number): void {
    this.#closedWaiting.set(functions)
  }

  storeUp(isUp: boolean): void {
    this.#storeUp.set(isUp ? 1 : 0)
  }

  /** Functions that are gone give up their labels. */
  pruneLabels(isPresent: (fn: string) => boolean): void {
    this.jobs.forget(this.labels.prune(isPresent))
  }

  /** Figures of this process, to show or to add to those of others. */
  async figures(): Promise<readonly Metric[]> {
    const folded = counter(
      'crossgear_functions_folded_total',
      'Functions counted as "other", because no more functions may have a label of their own',
      only(this.labels.folded),
    )
    return [
      this.#connections,
      this.#accepted,
      this.#closed,
      this.#rejected,
      this.#heldBack,
      this.#repairs,
      this.#unconfirmed,
      this.#closedWaiting,
      this.#turnsShared,
      this.#loginsFailed,
      this.#storeUp,
      ...(await this.#process.figures()),
      ...this.jobs.figures(),
      ...this.calls.figures(),
      folded,
    ]
  }
}

/** Gauges with a counter's name: sums of figures that are there by type. */
const misnamed = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`)

/** Figures of a histogram that is emptied by each scrape: empty, it says NaN, and the longest time there is as its least. */
const eventLoopLag = 'nodejs_eventloop_lag_'

/**
 * prom-client's figures of this process. They watch the event loop a hundred times a second, some 1 % of a core, so they
 * begin with the first reader.
 */
export class ProcessFigures {
  #registry: Registry | undefined

  /** The figures as they are now: a page that shows them reads nothing again. */
  async figures(): Promise<readonly Metric[]> {
    const registry = (this.#registry ??= watched())
    const read = await registry.getMetricsAsJSON()
    const isMeasured = read.some(
      ({ name, values }) =>
        name === `${eventLoopLag}mean_seconds` &&
        values.every(({ value }) => Number.isFinite(value)),
    )
    return read
      .filter(({ name }) => isMeasured || !name.startsWith(eventLoopLag))
      .flatMap(({ name }) => registry.getSingleMetric(name) ?? [])
      .map((metric) => Object.create(metric, { collect: { value: undefined } }) as Metric)
  }
}

function watched(): Registry {
  const register = new Registry()
  collectDefaultMetrics({ register })
  for (const name of misnamed) register.removeSingleMetric(name)
  return register
}
