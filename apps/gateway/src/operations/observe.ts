import type { JobRef, Observer, Orphan, StoreError } from '@crossgear/core-scheduler'
import { oneLine } from '../errors.ts'
import { systemClock } from '../doors/net/clock.ts'
import type { Logger } from '../config/log/logger.ts'
import { Episodes } from '../config/log/episodes.ts'
import { LogDeduper } from '../config/log/log-deduper.ts'
import type { JobHistory } from './history/job-history.ts'
import type { JobTracing } from './tracing/job-tracing.ts'
import type { Metrics } from './metrics/metrics.ts'
import { refusedWritesOf } from './refused-writes.ts'

/** Log lines for repaired orphans of native programs. */
const mended: Readonly<Record<Orphan, string>> = {
  busy: 'Requeued the job of a silent native worker.',
  stray: 'Requeued a job that was in no queue.',
  count: 'Corrected a stale native worker count.',
}
/** Log lines where repairs are only reported. */
const found: Readonly<Record<Orphan, string>> = {
  busy: 'Found the busy job of a silent native worker.',
  stray: 'Found a job in no queue.',
  count: 'Found a stale native worker count.',
}

/** Log lines for outcomes that the store does not take. */
const keptLines = {
  kept: 'Outcomes are kept here while the store takes none (10,000 and 64 MiB at most): they are stored when it is back.',
  full: 'No more outcomes are kept: the leases of further ones end when the store is back, and their jobs run again.',
} as const

/** Others that get some of the events. */
interface Listeners {
  readonly tracing?: JobTracing
  readonly history?: JobHistory
  /** Gets each job that died. */
  readonly notices?: { died(ref: JobRef): void }
}

/** Passes the scheduler's events to metrics, history and log. */
export function observeWith(
  metrics: Metrics,
  log: Logger,
  { tracing, history, notices }: Listeners = {},
): Observer {
  const { jobs } = metrics
  let saidOf: StoreError | undefined
  const deduper = new LogDeduper(() => systemClock.nowMs())
  const refusals = new Episodes(() => systemClock.nowMs())
  return {
    submitted: (lane, door, how) => {
      jobs.submitted(lane, door, how)
      if (how === 'created') history?.counted(lane, 'submitted')
    },
    assigned: (job) => {
      jobs.assigned(job)
      history?.assigned(job)
      tracing?.assigned(job)
    },
    ended: (run) => {
      jobs.ended(run)
      history?.ended(run)
      tracing?.ended(run)
      if (run.end === 'died') notices?.died({ lane: run.lane, id: run.id })
    },
    dropped: ({ lane, id, door, how }) => {
      jobs.dropped(lane, door, how)
      history?.counted(lane, how)
      if (how === 'died') notices?.died({ lane, id })
    },
    acted: (lane, act, count) => {
      jobs.acted(lane, act, count)
      history?.counted(lane, act, count)
    },
    turnShared: (lane) => metrics.turnShared(lane, 'many'),
    store: (up, reason) => {
      metrics.storeUp(up)
      deduper.forget()
      if (up) log.info('The store answers again.')
      else log.warn(`The store cannot be reached (${reason ?? 'no reason'}): trying again.`)
    },
    reclaimed: (dead, jobs) => {
      const { requeued, dropped, kept } = jobs
      const rest = kept === 0 ? '' : ` ${kept} stay with the Faktory workers that have them.`
      log.warn(
        { dead, ...jobs },
        `Gateway ${dead} is dead: ${requeued} of its jobs are in their queues again, ${dropped} were dropped.${rest}`,
      )
    },
    forgotten: (jobs) => {
      const { held, lost } = jobs
      if (lost === 0) return
      log.warn(
        jobs,
        `The store had forgotten this gateway, which was silent, or it has other data than before: ${lost} of the ${held} jobs of its workers are not theirs any more, and their outcomes change nothing.`,
      )
    },
    repaired: ({ kind, lane, id }, done) => {
      metrics.repaired(kind, done)
      log.warn({ kind, function: lane, id }, done ? mended[kind] : found[kind])
    },
    unconfirmed: (what, n, error) => {
      metrics.unconfirmed(what, n)
      // One question is asked for many calls, whose error is the same then.
      if (error === saidOf) return
      saidOf = error
      log.warn(`The store did not confirm a write: ${oneLine(error)}.`)
    },
    outcomesKept: (what) => {
      if (what === 'stored') log.info('Outcomes that were kept are stored.')
      else log.warn(keptLines[what])
    },
    bridged: (lane) => {
      const advice = `crossgear functions open ${lane}, or close, settles it`
      log.warn(
        { function: lane },
        `Faktory consumers now get jobs of ${lane}: no worker has asked for it by name lately: ${advice}.`,
      )
    },
    stranded: (lanes, fresh) => {
      metrics.closedWaiting(lanes)
      for (const lane of fresh) {
        const advice = `crossgear functions open ${lane}, if they know it`
        log.warn(
          { function: lane },
          `Jobs of ${lane} wait: it has no workers by name, and is closed to the Faktory consumers of its queue: ${advice}.`,
        )
      }
    },
    error: (task, error) => {
      const text = oneLine(error)
      const refused = refusedWritesOf(error)
      if (!(refused ? refusals.begins(refused.word) : deduper.isNews(task, text))) return
      log.warn(refused?.line ?? `${task}: ${text}`)
      log.debug({ err: error }, 'Error details.')
    },
  }
}
