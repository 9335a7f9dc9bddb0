import { counter, type Figure, type FigureValue, gauge, only } from './figure.ts'
import type { BoundedLabels } from './labels.ts'
import { type LaneFigures, queuedIn, type StoreSnapshot } from './store-snapshot.ts'

const ofStore = 'of the whole store, the same at every node'

/** The states of jobs, and how many of a lane are in each. */
const states: Readonly<Record<string, (lane: LaneFigures) => number>> = {
  waiting: queuedIn,
  running: ({ running }) => running,
  scheduled: ({ scheduled, retrying }) => scheduled - retrying,
  retry: ({ retrying }) => retrying,
  dead: ({ dead }) => dead,
}

/** Lanes whose function has no label of its own are one, by queue. */
interface LabelledLane {
  readonly labels: { readonly function: string; readonly queue: string }
  readonly lanes: LaneFigures[]
}

/** Queues have labels of their own up to a bound, for clients name them as well. */
interface Labels {
  readonly functions: BoundedLabels
  readonly queues: BoundedLabels
}

/** The figures that the store counts for all nodes. */
export function storeFigures({ lanes, nodes }: StoreSnapshot, labels: Labels): readonly Figure[] {
  const labelled = labelledLanes(lanes, labels)
  const byFunction = new Map<string, number>()
  for (const { labels: of, lanes: some } of labelled) {
    const expired = sum(some, (lane) => lane.expired)
    byFunction.set(of.function, (byFunction.get(of.function) ?? 0) + expired)
  }
  return [
    gauge(
      'crossgear_jobs',
      `Jobs ${ofStore}, by function, Faktory queue and state`,
      labelled.flatMap(({ labels: of, lanes: some }) =>
        Object.entries(states).map(([state, count]) => ({
          labels: { ...of, state },
          value: sum(some, count),
        })),
      ),
    ),
    gauge(
      'crossgear_oldest_waiting_seconds',
      `How long the next job has been waiting, 0 where none waits, ${ofStore}, by function and Faktory queue`,
      eachLane(labelled, (some) => Math.max(...some.map(({ oldestSeconds = 0 }) => oldestSeconds))),
    ),
    gauge(
      'crossgear_function_workers',
      `Workers that may take jobs, native ones among them, ${ofStore}, by function and Faktory queue`,
      eachLane(labelled, (some) => sum(some, ({ workers }) => workers)),
    ),
    counter(
      'crossgear_jobs_expired_total',
      `Jobs that were dropped when a worker would have got them, for nobody wanted them any more, ${ofStore}, by function`,
      [...byFunction].map(([label, value]) => ({ labels: { function: label }, value })),
    ),
    gauge('crossgear_nodes', `Gateway processes, ${ofStore}`, only(nodes.size)),
    gauge(
      'crossgear_node_last_beat_seconds',
      `How long ago a node said that it lives, ${ofStore}, by node`,
      [...nodes].map(([node, value]) => ({ labels: { node }, value })),
    ),
  ]
}

function labelledLanes(lanes: readonly LaneFigures[], labels: Labels): readonly LabelledLane[] {
  const found = new Map<string, LabelledLane>()
  for (const lane of lanes) {
    const of = { function: labels.functions.of(lane.fn), queue: labels.queues.of(lane.queue) }
    const key = `${of.queue}\0${of.function}`
    const known = found.get(key)
    if (known) known.lanes.push(lane)
    else found.set(key, { labels: of, lanes: [lane] })
  }
  return [...found.values()]
}

function eachLane(
  labelled: readonly LabelledLane[],
  value: (lanes: readonly LaneFigures[]) => number,
): readonly FigureValue[] {
  return labelled.map(({ labels, lanes }) => ({ labels, value: value(lanes) }))
}

function sum(lanes: readonly LaneFigures[], of: (lane: LaneFigures) => number): number {
  return lanes.reduce((total, lane) => total + of(lane), 0)
}
