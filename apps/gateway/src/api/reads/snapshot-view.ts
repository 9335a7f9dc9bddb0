import { inPieces } from '../../in-pieces.ts'
import { type LaneFigures, queuedIn, type StoreSnapshot } from '../../ops/metrics/store-snapshot.ts'
import { LaneSums } from './lane-sums.ts'
import { type FigureTable, ListOrders } from './list-orders.ts'

/** Functions that the overview names. */
const busiestShown = 10

/** A queue as its lanes add up. */
interface QueueFigures {
  readonly queue: string
  /** Lanes, one for each function. */
  functions: number
  readonly sums: LaneSums
}

interface Whole {
  readonly sums: LaneSums
  readonly functions: number
  readonly queues: ReadonlyMap<string, QueueFigures>
  /** Lanes with the most to do, the busiest first. */
  readonly busiest: readonly LaneFigures[]
}

type SortWord = 'waiting' | 'running' | 'scheduled' | 'retry' | 'dead' | 'oldest'

const laneFigures: FigureTable<LaneFigures, SortWord | 'workers'> = {
  waiting: ({ counts }) => queuedIn(counts),
  running: ({ counts }) => counts.running,
  scheduled: ({ counts }) => counts.scheduled - counts.retrying,
  retry: ({ counts }) => counts.retrying,
  dead: ({ counts }) => counts.dead,
  oldest: ({ oldestSeconds }) => oldestSeconds,
  workers: ({ counts }) => counts.workers,
}

const queueFigures: FigureTable<QueueFigures, SortWord> = {
  waiting: ({ sums }) => sums.waiting,
  running: ({ sums }) => sums.running,
  scheduled: ({ sums }) => sums.scheduled,
  retry: ({ sums }) => sums.retry,
  dead: ({ sums }) => sums.dead,
  oldest: ({ sums }) => sums.oldestSeconds,
}

/** A snapshot in the shapes that are asked for. Each is made once, in pieces, for all who ask. */
export class SnapshotView {
  readonly snapshot: StoreSnapshot
  readonly functions: ListOrders<LaneFigures, SortWord | 'workers'>
  #whole: Promise<Whole> | undefined
  #queues: Promise<ListOrders<QueueFigures, SortWord>> | undefined

  constructor(snapshot: StoreSnapshot) {
    this.snapshot = snapshot
    const entries = snapshot.lanes
    this.functions = new ListOrders({ entries, byName: byFunction, figures: laneFigures })
  }

  /** The store as a whole. */
  whole(): Promise<Whole> {
    this.#whole ??= wholeOf(this.snapshot.lanes)
    return this.#whole
  }

  queues(): Promise<ListOrders<QueueFigures, SortWord>> {
    this.#queues ??= this.whole().then(({ queues }) => {
      const entries = [...queues.values()]
      return new ListOrders({ entries, byName: byQueue, figures: queueFigures })
    })
    return this.#queues
  }
}

function byFunction(one: LaneFigures, other: LaneFigures): number {
  return compared(one.fn, other.fn) || compared(one.queue, other.queue)
}

function byQueue(one: QueueFigures, other: QueueFigures): number {
  return compared(one.queue, other.queue)
}

function compared(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

async function wholeOf(lanes: readonly LaneFigures[]): Promise<Whole> {
  const functions = new Set<string>()
  const queues = new Map<string, QueueFigures>()
  const sums = new LaneSums()
  const busiest: LaneFigures[] = []
  await inPieces(lanes, (lane) => {
    const { fn, queue } = lane
    functions.add(fn)
    const of = queues.get(queue) ?? { queue, functions: 0, sums: new LaneSums() }
    queues.set(queue, of)
    of.functions += 1
    of.sums.add(lane)
    sums.add(lane)
    addBusy(busiest, lane)
  })
  return { sums, functions: functions.size, queues, busiest }
}

/** Keeps the lanes with the most to do, in order. */
function addBusy(busiest: LaneFigures[], lane: LaneFigures): void {
  const load = loadOf(lane)
  const last = busiest.at(-1)
  if (load === 0 || (busiest.length === busiestShown && last && loadOf(last) >= load)) return
  const at = busiest.findIndex((other) => loadOf(other) < load)
  busiest.splice(at === -1 ? busiest.length : at, 0, lane)
  if (busiest.length > busiestShown) busiest.pop()
}

function loadOf({ counts }: LaneFigures): number {
  return queuedIn(counts) + counts.running
}
