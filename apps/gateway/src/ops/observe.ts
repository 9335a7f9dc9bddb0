import type { Observer, Orphan, StoreError } from '@crossgear/core-scheduler'
import { oneLine } from '../errors.ts'
import { systemClock } from '../net/clock.ts'
import type { Logger } from './log/logger.ts'
import { LogDeduper } from './log/log-deduper.ts'
import type { Metrics } from './metrics/metrics.ts'

/** Log lines for repaired orphans of native programs. */
const mended: Readonly<Record<Orphan, string>> = {
  busy: 'A native worker went silent: its job is queued again.',
  stray: 'A job stood in no queue: it is queued again.',
  count: 'Native workers were counted that nobody is: the count is put right.',
}
/** Log lines where repairs are only reported. */
const found: Readonly<Record<Orphan, string>> = {
  busy: 'A native worker went silent and its job is left busy.',
  stray: 'A job stands in no queue.',
  count: 'Native workers are counted that nobody is.',
}

/** Tells metrics and log what the scheduler does. */
export function observeWith(metrics: Metrics, log: Logger): Observer {
  const { jobs } = metrics
  let saidOf: StoreError | undefined
  const deduper = new LogDeduper(() => systemClock.nowMs())
  return {
    submitted: (lane, door, how) => jobs.submitted(lane, door, how),
    assigned: (job) => jobs.assigned(job),
    ended: (run) => jobs.ended(run),
    cancelled: (lane, door) => jobs.cancelled(lane, door),
    store: (up, reason) => {
      metrics.storeUp(up)
      deduper.forget()
      if (up) log.info('The store answers again.')
      else log.warn(`The store cannot be reached (${reason ?? 'no reason'}): trying again.`)
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
      log.warn(`The store has not confirmed what it took in: ${oneLine(error)}.`)
    },
    bridged: (lane) => {
      const advice = `crossgear functions open ${lane}, or close, settles it`
      log.warn(
        { function: lane },
        `Faktory consumers are given jobs of ${lane}, for no worker asked for it by name lately: ${advice}.`,
      )
    },
    stranded: (lanes, fresh) => {
      metrics.closedWaiting(lanes)
      for (const lane of fresh) {
        const advice = `crossgear functions open ${lane}, if they know it`
        log.warn(
          { function: lane },
          `Jobs of ${lane} wait: no worker by name is there, and it is closed to the Faktory consumers of its queue: ${advice}.`,
        )
      }
    },
    error: (task, error) => {
      const text = oneLine(error)
      if (!deduper.isNews(task, text)) return
      log.warn(`${task}: ${text}`)
      log.debug({ err: error }, 'Where it came from.')
    },
  }
}
