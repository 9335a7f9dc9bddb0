import type { LaneCounts } from '@crossgear/core-scheduler'
import { gauge, labelText, only, type Figure } from '../figure.ts'
import type { BoundedLabels } from '../labels.ts'
import { queuedIn, type StoreSnapshot } from '../store-snapshot.ts'

interface Parts {
  /** Absent while the store does not answer. */
  readonly snapshot: StoreSnapshot | undefined
  readonly labels: BoundedLabels
  /** The gearmand version that the port behaves as. */
  readonly version: string
}

/**
 * The figures of bakins/gearman-exporter: those of the text command `status`, scheduled jobs as
 * waiting.
 */
export function gearmanFigures({ snapshot, labels, version }: Parts): readonly Figure[] {
  const lanes = snapshot?.lanes ?? []
  const byFunction = (name: string, help: string, of: (lane: LaneCounts) => number): Figure => {
    const sums = new Map<string, number>()
    for (const lane of lanes) {
      const label = labels.of(lane.counts.lane)
      sums.set(label, (sums.get(label) ?? 0) + of(lane.counts))
    }
    return gauge(
      name,
      help,
      [...sums].map(([label, value]) => [labelText({ function: label }), value]),
    )
  }
  const waiting = (lane: LaneCounts): number => queuedIn(lane) + lane.scheduled
  return [
    gauge('gearman_up', 'is gearman up', only(snapshot ? 1 : 0)),
    gauge('gearman_version_info', 'gearman version', [[labelText({ version }), 1]]),
    byFunction('gearman_jobs', 'number of jobs queued or running', (lane) => {
      return waiting(lane) + lane.running
    }),
    byFunction('gearman_jobs_running', 'number of running jobs', ({ running }) => running),
    byFunction(
      'gearman_jobs_waiting',
      'number of jobs waiting for an available worker, or for their time',
      waiting,
    ),
    byFunction('gearman_workers', 'number of capable workers', ({ workers }) => workers),
  ]
}
