import type { LaneSizes } from '@crossgear/core-scheduler'
import { inPieces } from '../../../in-pieces.ts'
import type { Metric } from 'prom-client'
import { gauge, only } from '../figure.ts'
import type { BoundedLabels } from '../labels.ts'
import { queuedIn, type StoreSnapshot } from '../store-snapshot.ts'

interface Parts {
  /** Absent while the store does not answer. */
  readonly snapshot: StoreSnapshot | undefined
  readonly labels: BoundedLabels
  /** The gearmand version that the port behaves as. */
  readonly version: string
}

const waiting = (lane: LaneSizes): number => queuedIn(lane) + lane.scheduled

/** Figures by function: name, help, and how a lane counts. */
const byFunction: readonly (readonly [string, string, (lane: LaneSizes) => number])[] = [
  ['gearman_jobs', 'number of jobs queued or running', (lane) => waiting(lane) + lane.running],
  ['gearman_jobs_running', 'number of running jobs', ({ running }) => running],
  [
    'gearman_jobs_waiting',
    'number of jobs waiting for an available worker, or for their time',
    waiting,
  ],
  ['gearman_workers', 'number of capable workers', ({ workers }) => workers],
]

/**
 * The figures of bakins/gearman-exporter: those of the text command `status`, scheduled jobs as
 * waiting.
 */
export async function gearmanFigures({
  snapshot,
  labels,
  version,
}: Parts): Promise<readonly Metric[]> {
  const sums = new Map<string, number[]>()
  await inPieces(snapshot?.lanes ?? [], ({ counts }) => {
    const label = labels.of(counts.lane)
    let values = sums.get(label)
    if (!values) sums.set(label, (values = byFunction.map(() => 0)))
    for (const [at, [, , of]] of byFunction.entries()) values[at] = (values[at] ?? 0) + of(counts)
  })
  return [
    gauge('gearman_up', 'is gearman up', only(snapshot ? 1 : 0)),
    gauge('gearman_version_info', 'gearman version', [[{ version }, 1]]),
    ...byFunction.map(([name, help], at) =>
      gauge(
        name,
        help,
        [...sums].map(([label, values]) => [{ function: label }, values[at] ?? 0]),
      ),
    ),
  ]
}
