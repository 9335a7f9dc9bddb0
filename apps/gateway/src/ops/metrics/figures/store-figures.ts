import type { LaneCounts } from '@crossgear/core-scheduler'
import { counter, gauge, labelText, only, type Figure, type Value } from '../figure.ts'
import type { BoundedLabels } from '../labels.ts'
import { type LaneFigures, queuedIn, type StoreSnapshot } from '../store-snapshot.ts'

const ofStore = 'of the whole store, the same at every node'

/** Jobs of a lane by state. */
const states: Readonly<Record<string, (counts: LaneCounts) => number>> = {
  waiting: queuedIn,
  running: ({ running }) => running,
  scheduled: ({ scheduled, retrying }) => scheduled - retrying,
  retry: ({ retrying }) => retrying,
  dead: ({ dead }) => dead,
}

/** Lanes of functions without a label of their own are one, by queue. */
interface LabelledLane {
  readonly fn: string
  /** Function and queue in the scrape format. */
  readonly labels: string
  readonly lanes: LaneFigures[]
}

/** Queues have labels up to a bound, since clients name them too. */
interface BoundLabels {
  readonly functions: BoundedLabels
  readonly queues: BoundedLabels
}

/** Figures that the store counts for all nodes. */
export function storeFigures(
  { lanes, nodes }: StoreSnapshot,
  labels: BoundLabels,
): readonly Figure[] {
  const labelled = labelledLanes(lanes, labels)
  const expired = new Map<string, number>()
  for (const { fn, lanes: some } of labelled) {
    expired.set(fn, (expired.get(fn) ?? 0) + sum(some, (counts) => counts.expired))
  }
  return [
    gauge(
      'crossgear_jobs',
      `Jobs ${ofStore}, by function, Faktory queue and state`,
      labelled.flatMap(({ labels: of, lanes: some }) =>
        Object.entries(states).map(([state, count]): Value => [
          `${of},state="${state}"`,
          sum(some, count),
        ]),
      ),
    ),
    gauge(
      'crossgear_oldest_waiting_seconds',
      `How long the next job has been waiting, 0 where none waits, ${ofStore}, by function and Faktory queue`,
      labelled.map(({ labels: of, lanes: some }) => [of, oldest(some)]),
    ),
    gauge(
      'crossgear_function_workers',
      `Workers that may take jobs, native ones among them, ${ofStore}, by function and Faktory queue`,
      labelled.map(({ labels: of, lanes: some }) => [of, sum(some, ({ workers }) => workers)]),
    ),
    gauge(
      'crossgear_function_paused',
      `1 where an operator has paused the function, so that no worker behind a gateway gets its jobs, else 0, ${ofStore}, by function and Faktory queue`,
      labelled.map(({ labels: of, lanes: some }) => [of, some.some(isHeldBack) ? 1 : 0]),
    ),
    counter(
      'crossgear_jobs_expired_total',
      `Jobs that were dropped when a worker would have got them, for nobody wanted them any more, ${ofStore}, by function`,
      [...expired].map(([fn, value]) => [labelText({ function: fn }), value]),
    ),
    gauge('crossgear_nodes', `Gateway processes, ${ofStore}`, only(nodes.size)),
    gauge(
      'crossgear_node_last_beat_seconds',
      `How long ago a node said that it lives, ${ofStore}, by node`,
      [...nodes].map(([node, value]) => [labelText({ node }), value]),
    ),
  ]
}

function isHeldBack({ isPaused }: LaneFigures): boolean {
  return isPaused
}

function labelledLanes(
  lanes: readonly LaneFigures[],
  labels: BoundLabels,
): readonly LabelledLane[] {
  const found = new Map<string, LabelledLane>()
  for (const lane of lanes) {
    const fn = labels.functions.of(lane.fn)
    const of = labelText({ function: fn, queue: labels.queues.of(lane.queue) })
    const known = found.get(of)
    if (known) known.lanes.push(lane)
    else found.set(of, { fn, labels: of, lanes: [lane] })
  }
  return [...found.values()]
}

function oldest(lanes: readonly LaneFigures[]): number {
  return lanes.reduce((most, { oldestSeconds }) => Math.max(most, oldestSeconds), 0)
}

function sum(lanes: readonly LaneFigures[], of: (counts: LaneCounts) => number): number {
  return lanes.reduce((total, { counts }) => total + of(counts), 0)
}
