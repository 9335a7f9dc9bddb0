import { LaneNames } from '@crossgear/core-scheduler'
import { CallFigures } from './figures/call-figures.ts'
import { counter, type Figure, figure, type Labels, labelText, only } from './figure.ts'
import { JobFigures } from './figures/job-figures.ts'
import { BoundedLabels } from './labels.ts'
import { ProcessFigures } from './process-figures.ts'

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

/** Figures of connections, the store and repairs, in the order of the scrape. */
const rows = {
  connections: ['gauge', 'crossgear_connections', 'Open connections, by door'],
  accepted: ['counter', 'crossgear_connections_accepted_total', 'Accepted connections, by door'],
  closed: [
    'counter',
    'crossgear_connections_closed_total',
    'Closed connections, by door and the reason of the gateway (ended: the peer closed it, or the gateway stops)',
  ],
  rejected: [
    'counter',
    'crossgear_rejected_total',
    'Refusals by a limit or a rule, by door and reason',
  ],
  heldBack: [
    'counter',
    'crossgear_held_back_total',
    'How often the gateway stopped reading from a peer, because too much waited for it or from it, by door',
  ],
  repairs: [
    'counter',
    'crossgear_repairs_total',
    'Orphans of native programs (busy, stray, count), repaired or only found (done yes, no)',
  ],
  unconfirmed: [
    'counter',
    'crossgear_unconfirmed_total',
    'Jobs (refused) and outcomes (reported to clients all the same) in the store that are not as durable as --durability asks, by what (submissions, outcomes)',
  ],
  closedWaiting: [
    'gauge',
    'crossgear_closed_functions_waiting',
    'Functions closed to Faktory consumers, without workers by name, whose jobs wait although consumers are there',
  ],
  turnsShared: [
    'counter',
    'crossgear_turns_shared_total',
    'Jobs that share one turn of their function, by why (none: without a value of its key, many: too many values)',
  ],
  loginsFailed: [
    'counter',
    'crossgear_logins_failed_total',
    'Logins at the web port that failed, by reason (password: a wrong one without a name, person: a wrong name or password, tries: an address with too many)',
  ],
  storeUp: ['gauge', 'crossgear_store_up', '1 while the store answers, else 0'],
} as const satisfies Readonly<
  Record<string, readonly [type: Figure['type'], name: string, help: string]>
>
type Row = keyof typeof rows

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
  /** By row and labels. */
  readonly #values = new Map<Row, Map<string, number>>()

  constructor({ functions = 500, names = new LaneNames() }: MetricsOptions = {}) {
    this.#names = names
    this.labels = new BoundedLabels(functions)
    this.jobs = new JobFigures(names, this.labels)
    // Shown from the start: an increase at the first needs the 0 before it.
    for (const what of ['submissions', 'outcomes']) this.#add('unconfirmed', { what }, 0)
    for (const reason of ['password', 'person', 'tries']) this.#add('loginsFailed', { reason }, 0)
    for (const row of ['closedWaiting', 'storeUp'] as const) this.#add(row, {}, 0)
  }

  /** The figures of one door, which exist from now on. Ask once and keep it. */
  door(door: string): DoorMetrics {
    this.#add('connections', { door }, 0)
    this.#add('accepted', { door }, 0)
    this.#add('closed', { door, reason: usualEnd }, 0)
    return {
      connectionOpened: () => {
        this.#add('connections', { door })
        this.#add('accepted', { door })
      },
      connectionClosed: (reason = usualEnd) => {
        this.#add('connections', { door }, -1)
        this.#add('closed', { door, reason })
      },
      rejected: (reason) => this.#add('rejected', { door, reason }),
      heldBack: () => this.#add('heldBack', { door }),
    }
  }

  /** `kind` is a word of the code. */
  repaired(kind: string, isDone: boolean): void {
    this.#add('repairs', { kind, done: isDone ? 'yes' : 'no' })
  }

  unconfirmed(what: 'submissions' | 'outcomes', n: number): void {
    this.#add('unconfirmed', { what }, n)
  }

  turnShared(lane: string, why: 'none' | 'many'): void {
    const { fn } = this.#names.parse(lane)
    this.#add('turnsShared', { function: this.labels.of(fn), why })
  }

  /** `reason` is a word of the code. */
  loginFailed(reason: string): void {
    this.#add('loginsFailed', { reason })
  }

  closedWaiting(functions: number): void {
    this.#of('closedWaiting').set('', functions)
  }

  storeUp(isUp: boolean): void {
    this.#of('storeUp').set('', isUp ? 1 : 0)
  }

  /** Functions that are gone give up their labels. */
  pruneLabels(isPresent: (fn: string) => boolean): void {
    this.jobs.forget(this.labels.prune(isPresent))
  }

  /** Figures of this process, to show or to add to those of others. */
  async figures(): Promise<readonly Figure[]> {
    const folded = counter(
      'crossgear_functions_folded_total',
      'Functions counted as "other", because no more functions may have a label of their own',
      only(this.labels.folded),
    )
    return [
      ...Object.entries(rows).map(([row, [type, name, help]]) =>
        figure(type, name, help, [...this.#of(row as Row)]),
      ),
      ...(await this.#process.figures()),
      ...this.jobs.figures(),
      ...this.calls.figures(),
      folded,
    ]
  }

  #add(row: Row, labels: Labels, n = 1): void {
    const values = this.#of(row)
    const text = labelText(labels)
    values.set(text, (values.get(text) ?? 0) + n)
  }

  #of(row: Row): Map<string, number> {
    const known = this.#values.get(row) ?? new Map<string, number>()
    this.#values.set(row, known)
    return known
  }
}
