import type { LaneCounts } from '@crossgear/core-scheduler'
import { inPieces } from '../../../in-pieces.ts'
import type { Metric } from 'prom-client'
import { gauge, type Labels, only, type Value } from '../figure.ts'
import type { LaneLabels } from '../labels.ts'
import { queuedIn, type StoreSnapshot } from '../store-snapshot.ts'

const ofStore = 'of the whole store, the same at every node'

/** Jobs of a lane by state. */
const states: readonly (readonly [state: string, count: (counts: LaneCounts) => number])[] = [
  ['waiting', queuedIn],
  ['running', ({ running }) => running],
  ['scheduled', ({ scheduled, retrying }) => scheduled - retrying],
  ['retry', ({ retrying }) => retrying],
  ['dead', ({ dead }) => dead],
]

/** Lanes of functions without a label of their own are one, by queue. */
interface LabelledLane {
  readonly fn: string
  /** Function and queue. */
  readonly labels: Labels
  /** Jobs, in the order of {@link states}. */
  readonly jobs: number[]
  oldestSeconds: number
  workers: number
  /** At least one is. */
  isPaused: boolean
}

/** Figures that the store counts for all nodes. */
export async function storeFigures(
  snapshot: StoreSnapshot,
  labels: LaneLabels,
): Promise<readonly Metric[]> {
  const { nodes } = snapshot
  const labelled = await labelledLanes(snapshot, labels)
  return [
    gauge(
      'crossgear_jobs',
      `Jobs ${ofStore}, by function, Faktory queue and state`,
      labelled.flatMap(({ labels: of, jobs }) =>
        states.map(([state], at): Value => [{ ...of, state }, jobs[at] ?? 0]),
      ),
    ),
    gauge(
      'crossgear_oldest_waiting_seconds',
      `How long the next job has been waiting, 0 where none waits, ${ofStore}, by function and Faktory queue`,
      labelled.map(({ labels: of, oldestSeconds }) => [of, oldestSeconds]),
    ),
    gauge(
      'crossgear_function_workers',
      `Workers of the function, native ones among them, and Faktory workers of its queue that may get its jobs, ${ofStore}, by function and Faktory queue`,
      labelled.map(({ labels: of, workers }) => [of, workers]),
    ),
    gauge(
      'crossgear_function_paused',
      `1 if an operator has paused the function, so that no worker behind a gateway gets its jobs, else 0, ${ofStore}, by function and Faktory queue`,
      labelled.map(({ labels: of, isPaused }) => [of, isPaused ? 1 : 0]),
    ),
    gauge('crossgear_nodes', `Gateway processes, ${ofStore}`, only(nodes.size)),
    gauge(
      'crossgear_node_last_beat_seconds',
      `Time since the last heartbeat of a node, ${ofStore}, by node`,
      [...nodes].map(([node, value]) => [{ node }, value]),
    ),
  ]
}

const none = { oldestSeconds: 0, workers: 0, isPaused: false }

/** Thousands of functions may share a label. */
async function labelledLanes(
  { lanes }: StoreSnapshot,
  labels: LaneLabels,
): Promise<readonly LabelledLane[]> {
  const found: LabelledLane[] = []
  const byQueue = new Map<string, Map<string, LabelledLane>>()
  const laneOf = (fn: string, queue: string): LabelledLane => {
    const byFunction = byQueue.get(queue) ?? new Map<string, LabelledLane>()
    byQueue.set(queue, byFunction)
    const known = byFunction.get(fn)
    if (known) return known
    const lane = {
      fn,
      labels: { function: fn, queue },
      jobs: states.map(() => 0),
      ...none,
    }
    byFunction.set(fn, lane)
    found.push(lane)
    return lane
  }
  await inPieces(lanes, ({ fn, queue, counts, oldestSeconds, isPaused }) => {
    const lane = laneOf(labels.functions.of(fn), labels.queues.of(queue))
    for (let at = 0; at < states.length; at += 1) {
      lane.jobs[at] = (lane.jobs[at] ?? 0) + (states[at]?.[1](counts) ?? 0)
    }
    lane.oldestSeconds = Math.max(lane.oldestSeconds, oldestSeconds)
    lane.workers += counts.workers
    lane.isPaused ||= isPaused
  })
  return found
}
