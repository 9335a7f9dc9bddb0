import { BatchQueue, type Size } from '../node/steps.ts'
import type { NodeContext } from '../node/node-context.ts'
import type { KeptOutcomes } from './kept-outcomes.ts'
import type { LeaseStarts } from './lease-starts.ts'
import { holderOf, nativeDoor } from '../model/job.ts'
import type { Door, Failure, JobEvent, JobRef, Outcome, Report, Settled } from '../model/job.ts'
import type { FailureReport } from '../model/retry-rules.ts'
import type { RunEnd } from '../observer.ts'
import { isForGood, StoreError, toStoreError } from '../model/store-errors.ts'
import type { Assignment, Reporting, Settlement } from '../model/requests.ts'

interface PendingOutcome {
  readonly outcome: Outcome
  readonly assignment: Assignment | undefined
  readonly settlement: Settlement | undefined
  /** The door of a job that no worker of this node held, if known. */
  readonly door: Door | undefined
  /** A failure as the worker reported it. */
  readonly report?: FailureReport
  /** The store has asked for its output. */
  readonly isWanted?: boolean
  /** The outcome came after its lease was lost, and the store holds the job for it. */
  readonly isRegained?: boolean
  /** The store refused it before, and the worker was answered. */
  readonly isKept?: boolean
}

interface PendingReport {
  readonly report: Report
  readonly reporting: Reporting
}

interface Parts extends NodeContext {
  readonly leaseStarts: LeaseStarts
  readonly keptOutcomes: KeptOutcomes
}

/**
 * Outputs from this size on, bytes, are not sent if nobody at another node wants them. Sent, Redis takes 1.2 and 2.1 times
 * the processor time for foreground jobs of 10 KB and 60 KB.
 */
const longOutput = 1024

/** Takes outcomes and reports in batches per lane; announces them when the store has them. */
export class Outcomes {
  readonly #parts: Parts
  readonly #outcomes: BatchQueue<PendingOutcome>
  readonly #reports: BatchQueue<PendingReport>
  /** Outcomes that the store (or the disk or replica asked for) has not yet confirmed. */
  readonly #underway = new Set<readonly PendingOutcome[]>()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#outcomes = new BatchQueue(parts.steps.added, (lane, items, size) => {
      this.#reports.flush()
      this.#finish(lane, items, size)
    })
    this.#reports = new BatchQueue(parts.steps.added, (_lane, items, size) =>
      this.#sendReports(items, size),
    )
  }

  /** `assignment` is absent for a job that no worker of this node held. */
  add(
    assignment: Assignment | undefined,
    outcome: Outcome,
    settlement?: Settlement,
    door: Door | undefined = assignment?.job.door,
  ): void {
    this.#parts.leaseStarts.ending(outcome.token)
    this.#queue({ assignment, outcome, settlement, door })
  }

  /** A failure that the worker reports. */
  fail(assignment: Assignment, report: FailureReport, settlement?: Settlement): void {
    const { job, isLookedUp, sinceMs } = assignment
    const ran = isLookedUp ? {} : { ranMs: Math.round(this.#parts.clock.nowMs() - sinceMs) }
    const outcome = this.#failureOf(assignment, { ...report, ...ran })
    this.#parts.leaseStarts.ending(outcome.token)
    this.#queue({ assignment, outcome, settlement, report, door: job.door })
  }

  /** A job that was found by its name may be with another worker than the one that reports, which may still end it. */
  #failureOf({ job, isLookedUp }: Assignment, report: FailureReport): Failure {
    const failure = this.#parts.retryPolicy.ofFailure(job, report)
    return isLookedUp ? { ...failure, isLate: true } : failure
  }

  #queue(item: PendingOutcome): void {
    const { outcome } = item
    this.#outcomes.add(outcome.lane, item, outcome.kind === 'complete' ? outcome.output.length : 0)
  }

  addReport(report: Report, reporting: Reporting): void {
    const bytes = report.kind === 'status' ? 0 : report.data.length
    this.#reports.add(report.lane, { report, reporting }, bytes)
  }

  /** Reports first: a worker's last words precede its outcome. */
  flush(): void {
    this.#parts.leaseStarts.flush()
    this.#reports.flush()
    this.#outcomes.flush()
  }

  /** True if this node is about to announce the outcome of a job. */
  isSettling(ref: JobRef): boolean {
    const isIt = ({ outcome }: PendingOutcome): boolean =>
      outcome.id === ref.id && outcome.lane === ref.lane
    return [...this.#underway].some((items) => items.some(isIt))
  }

  #finish(lane: string, items: readonly PendingOutcome[], size: Size): void {
    this.#underway.add(items)
    const outcomes = items.map((item) => this.#sentOf(item))
    this.#parts.steps.finish(lane, outcomes, size, (results) => {
      if (results instanceof StoreError) this.#refuse(items, results)
      else {
        this.#take(lane, items, results).catch((error: unknown) =>
          this.#refuse(items, toStoreError(error)),
        )
      }
    })
  }

  #refuse(items: readonly PendingOutcome[], refusal: StoreError): void {
    this.#underway.delete(items)
    for (const item of items) {
      this.#parts.leaseStarts.notEnded(item.outcome.token)
      const isKept = isForGood(refusal) ? this.#drop(item, refusal) : this.#keep(item)
      if (refusal.code !== 'REFUSED') this.#setPendingOutcome(item.outcome)
      if (!item.isKept) item.settlement?.refused(refusal, isKept)
    }
  }

  /** The lease of the job stands until its time is over. */
  #drop({ outcome: { lane, token } }: PendingOutcome, refusal: StoreError): false {
    const { activeLeases, observer } = this.#parts
    activeLeases.remove(token)
    observer.error(`An outcome of ${lane} is dropped, as its job cannot be ended`, refusal)
    return false
  }

  /** Keeps what nobody else would repeat. Where there is no room for a worker's outcome its lease ends: the job runs again. */
  #keep(item: PendingOutcome): boolean {
    const { keptOutcomes } = this.#parts
    const { outcome, settlement, assignment, door } = item
    const kept = { bytes: bytesOf(outcome), again: () => this.#queue({ ...item, isKept: true }) }
    if (isRequeue(outcome)) keptOutcomes.addOwn(kept)
    if (!settlement?.isRepeated || isRequeue(outcome)) return false
    if (keptOutcomes.add(kept)) return true
    const { lane, id, token } = outcome
    const end = { lane, id, token, kind: 'requeue', lost: false } as const
    const again = (): void =>
      this.#queue({ assignment, outcome: end, settlement: undefined, door, isKept: true })
    keptOutcomes.addOwn({ bytes: 0, again })
    return false
  }

  async #take(
    lane: string,
    items: readonly PendingOutcome[],
    results: readonly Settled[],
  ): Promise<void> {
    if (this.#parts.store.confirm) {
      for (const [at, { settlement }] of items.entries()) {
        const result = results[at] ?? 'unknown'
        if (result !== 'wanted') settlement?.stored?.(result)
      }
      await this.#confirm(items.length)
    }
    let requeued = 0
    for (const [at, item] of items.entries()) {
      const result = results[at] ?? 'unknown'
      if (result === 'requeued') requeued += 1
      if (result === 'wanted') this.#queue({ ...item, isWanted: true })
      else if (result === 'unknown' && isOfWorker(item)) void this.#regain(item)
      else this.#answer(item, result)
    }
    if (requeued > 0) this.#parts.wakeups.wake(lane, requeued)
    this.#underway.delete(items)
  }

  /**
   * The lease was lost, by time or because its worker seemed to be gone. What its worker says counts all the same until the job
   * has ended: the first to end it wins.
   */
  async #regain(item: PendingOutcome): Promise<void> {
    const { store, retryPolicy } = this.#parts
    const { outcome, report } = item
    try {
      const regained = await store.jobs.regain(outcome)
      if (regained === 'no') {
        this.#answer(item, 'unknown')
        return
      }
      // The end of the last lease may have counted as this run's failure. Failures of later runs count besides.
      const [job] =
        report && regained === 'earlier' ? await store.jobs.look(outcome.lane, [outcome.id]) : []
      const { token } = outcome
      const late = job && report ? retryPolicy.ofFailure({ ...job, token }, report) : outcome
      this.#queue({ ...item, outcome: late, isRegained: true })
    } catch (error) {
      this.#refuse([item], toStoreError(error))
    }
  }

  /** Withholds an output that nobody at another node waits for and nothing keeps. */
  #sentOf({ outcome, assignment, isWanted }: PendingOutcome): Outcome {
    if (outcome.kind !== 'complete' || isWanted || !assignment) return outcome
    const { job } = assignment
    const isLong = outcome.output.length >= longOutput
    const isKept = job.door === nativeDoor || (job.retentionSeconds ?? 0) > 0
    const isAwaitedElsewhere = job.waiting > 0 && !this.#parts.waiters.has(job.lane, job.id)
    if (!isLong || isKept || isAwaitedElsewhere) return outcome
    return { ...outcome, withheld: true }
  }

  /** Outcomes that could not be made durable are stored all the same, and announced. */
  async #confirm(outcomes: number): Promise<void> {
    const { store, observer } = this.#parts
    try {
      await store.confirm?.()
    } catch (error) {
      observer.unconfirmed('outcomes', outcomes, toStoreError(error))
    }
  }

  #answer(item: PendingOutcome, result: Settled): void {
    const { outcome, settlement } = item
    this.#parts.activeLeases.remove(outcome.token)
    this.#parts.leaseStarts.ended(outcome.token)
    if (result !== 'unknown') {
      const event = eventOf(outcome, result)
      if (event) this.#parts.waiters.notify(outcome, event)
      this.#observe(item, result)
    }
    settlement?.settled(result)
  }

  /** No answer came: the store may have ended the job all the same. */
  #setPendingOutcome(outcome: Outcome): void {
    const event = eventOf(outcome, 'done')
    if (event) this.#parts.waiters.setPendingOutcome(outcome, event)
  }

  #observe({ outcome, assignment, door, report }: PendingOutcome, result: Settled): void {
    const end = runEndOf(outcome, result)
    if (door === undefined || end === undefined) return
    const { observer, clock } = this.#parts
    const { lane, id, token } = outcome
    if (result === 'expired' || result === 'lost') observer.dropped({ lane, id, door, how: result })
    const by = token === 'native' ? 'native' : holderOf(token)
    const hasRunHere = assignment && !assignment.isLookedUp
    const runMs = hasRunHere ? clock.nowMs() - assignment.sinceMs : undefined
    const trace = assignment?.job.trace
    observer.ended({ lane, id, door, by, end, token, runMs, trace, report })
  }

  #forward(report: Report, reporting: Reporting): void {
    const { waiters } = this.#parts
    waiters.notify(report, report)
    for (const reader of waiters.behind(report)) reporting.awaits?.(reader)
  }

  #sendReports(items: readonly PendingReport[], size: Size): void {
    const reports = items.map(({ report }) => report)
    this.#parts.steps.report(reports, size, (results) => {
      for (const [at, { report, reporting }] of items.entries()) {
        if (results instanceof StoreError) {
          reporting.refused(results)
          continue
        }
        const known = results[at] ?? false
        if (known) this.#forward(report, reporting)
        reporting.reported(known)
      }
    })
  }
}

/** The end of a run; undefined for a job that no worker has had. */
function runEndOf({ kind }: Outcome, result: Settled): RunEnd | undefined {
  return result === 'died' ? 'died' : runEnds[kind]
}

const runEnds = {
  complete: 'completed',
  fail: 'failed',
  dead: 'failed',
  retry: 'retried',
  requeue: 'interrupted',
  requeueFront: undefined,
} as const

/** True for what a worker behind a gateway says of its job, the first time that it is sent. */
function isOfWorker({ assignment, outcome, isRegained }: PendingOutcome): boolean {
  return assignment !== undefined && !isRegained && !isRequeue(outcome)
}

function bytesOf(outcome: Outcome): number {
  if (outcome.kind === 'complete') return outcome.output.length
  return 'message' in outcome ? outcome.message.length : 0
}

type Requeue = Extract<Outcome, { kind: 'requeue' | 'requeueFront' }>

function isRequeue(outcome: Outcome): outcome is Requeue {
  return outcome.kind === 'requeue' || outcome.kind === 'requeueFront'
}

/** The event for waiters after an outcome; undefined while the job will run again. */
function eventOf(outcome: Outcome, result: Settled): JobEvent | undefined {
  if (isRequeue(outcome))
    return result === 'requeued' || result === 'done' ? undefined : { kind: 'fail' }
  switch (outcome.kind) {
    case 'complete':
      return { kind: 'complete', output: outcome.output }
    case 'fail':
      return failureEvent(outcome.message, outcome.isException)
    case 'dead':
      return failureEvent(outcome.message)
    case 'retry':
      return undefined
  }
}

/** A failure with a message is an exception for clients that asked for exceptions. */
export function failureEvent(message: Uint8Array, isException = false): JobEvent {
  return isException || message.length > 0 ? { kind: 'exception', message } : { kind: 'fail' }
}
