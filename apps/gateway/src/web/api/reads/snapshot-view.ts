import { type Compare, inPieces } from '../../../in-pieces.ts'
import {
  type LaneFigures,
  queuedIn,
  type StoreSnapshot,
  type StoreSnapshots,
} from '../../../operations/metrics/store-snapshot.ts'
import type { Scope } from '../scope.ts'
import { LaneSums } from './lane-sums.ts'
import { type FigureTable, ListOrders } from './list-orders.ts'

/** Functions that the overview names. */
const busiestShown = 10
/** Answers of one snapshot that are kept: dashboards ask for a few. */
const maxAnswers = 64

/** A queue: the sum of its lanes. */
interface QueueFigures {
  readonly queue: string
  /** Lanes, one for each function. */
  functions: number
  readonly sums: LaneSums
  /** Of the lanes that have waiting jobs, the one whose jobs wait longest. */
  oldest?: LaneFigures
}

/** An answer, and what it shows besides the snapshot. */
interface Shared {
  readonly answer: Promise<object>
  readonly others: readonly unknown[]
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

/** A snapshot, or the part of it that somebody sees: without the counters of lanes that are gone. */
type Shown = Omit<StoreSnapshot, 'former'> & Partial<Pick<StoreSnapshot, 'former'>>

/** A snapshot in the shapes that are asked for. Each is made once, in pieces, for all callers. */
export class SnapshotView {
  readonly snapshot: Shown
  readonly functions: ListOrders<LaneFigures, SortWord | 'workers'>
  #whole: Promise<Whole> | undefined
  #queues: Promise<ListOrders<QueueFigures, SortWord>> | undefined
  readonly #answers = new Map<string, Shared>()

  constructor(snapshot: Shown) {
    this.snapshot = snapshot
    const entries = snapshot.lanes
    this.functions = new ListOrders({ entries, byName: byFunction, figures: laneFigures })
  }

  /** When its figures were taken. */
  get at(): string {
    return new Date(this.snapshot.atMs).toISOString()
  }

  /** The store as a whole, or what somebody sees of it. */
  whole(): Promise<Whole> {
    this.#whole ??= wholeOf(this.snapshot)
    return this.#whole
  }

  queues(): Promise<ListOrders<QueueFigures, SortWord>> {
    this.#queues ??= this.whole().then(({ queues }) => {
      const entries = [...queues.values()]
      const byName: Compare<QueueFigures> = (one, other) => compared(one.queue, other.queue)
      return new ListOrders({ entries, byName, figures: queueFigures })
    })
    return this.#queues
  }

  /** One answer for equal requests; it is made again when one of `others`, which it shows too, has changed. */
  answer<Answer extends object>(
    asked: readonly unknown[],
    others: readonly unknown[],
    make: () => Promise<Answer>,
  ): Promise<Answer> {
    const key = JSON.stringify(asked)
    const known = this.#answers.get(key)
    if (known?.others.every((other, at) => other === others[at])) {
      return known.answer as Promise<Answer>
    }
    const answer = make()
    if (known || this.#answers.size < maxAnswers) this.#answers.set(key, { answer, others })
    return answer
  }
}

/** The latest snapshot's shapes, for all callers. */
export class LatestView {
  /** Calls that may have changed something since the start: whoever changed it wants to see that at once. */
  changes = 0
  readonly #snapshots: StoreSnapshots
  #view: SnapshotView | undefined
  /** Of the latest snapshot, by the scope of people. */
  #scoped = new WeakMap<Scope, SnapshotView>()

  constructor(snapshots: StoreSnapshots) {
    this.#snapshots = snapshots
  }

  /** `scope`: only the lanes of a person. All. */
  async get(scope?: Scope): Promise<SnapshotView> {
    const snapshot = await this.#snapshots.get()
    if (this.#view?.snapshot !== snapshot) {
      this.#view = new SnapshotView(snapshot)
      this.#scoped = new WeakMap()
    }
    if (!scope) return this.#view
    const known = this.#scoped.get(scope)
    if (known) return known
    const { former: _former, ...rest } = snapshot
    const lanes = rest.lanes.filter(({ counts }) => scope.hasLane(counts.lane))
    const view = new SnapshotView({ ...rest, lanes })
    this.#scoped.set(scope, view)
    return view
  }
}

function byFunction(one: LaneFigures, other: LaneFigures): number {
  return compared(one.fn, other.fn) || compared(one.queue, other.queue)
}

function compared(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

async function wholeOf({ lanes, former }: Shown): Promise<Whole> {
  const functions = new Set<string>()
  const queues = new Map<string, QueueFigures>()
  const sums = new LaneSums()
  if (former) sums.addTotals(former)
  const busiest: LaneFigures[] = []
  await inPieces(lanes, (lane) => {
    const { fn, queue } = lane
    functions.add(fn)
    const of = queues.get(queue) ?? { queue, functions: 0, sums: new LaneSums() }
    queues.set(queue, of)
    of.functions += 1
    of.sums.add(lane)
    if (waitsLonger(lane, of.oldest)) of.oldest = lane
    sums.add(lane)
    addBusy(busiest, lane)
  })
  for (const [queue, of] of queues) if (of.sums.isRemoved) queues.delete(queue)
  return { sums, functions: functions.size, queues, busiest }
}

/** True for a lane with waiting jobs, if those of the other have not waited longer. */
export function waitsLonger(lane: LaneFigures, other: LaneFigures | undefined): boolean {
  return queuedIn(lane.counts) > 0 && (!other || lane.oldestSeconds > other.oldestSeconds)
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
