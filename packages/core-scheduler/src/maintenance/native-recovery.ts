import type { NodeContext } from '../node/node-context.ts'
import type { JobRef } from '../model/job.ts'
import type { NativeOutcomes } from '../results/native-outcomes.ts'
import type { LaneCheck } from './lane-looks.ts'
import { SurveyPace } from './survey-pace.ts'

/** Leadership passes to another node when its owner is silent for this long, milliseconds. */
const leadForMs = 3_500
/** Steps through indexes of unfinished jobs per beat at full pace, each at most 1 ms of the store's time. */
const sweepsPerBeat = 20
/** The same through the index of jids. */
const jidSweepsPerBeat = 4
/** Beats per step through either index while no native worker does anything: a step reads 128 entries of a short one. */
const beatsPerQuietStep = 10
/** Entries of such a step of a long one. */
const quietEntries = 50
/** Repairs per lane and beat. */
const repairsPerBeat = 50
/** Lanes with orphans per beat, and lanes with native workers; the rest wait for the next one. */
const lanesPerBeat = 2
/** Lanes with waiting clients that are checked for native workers, per beat. */
const awaitedPerBeat = 64

const mends = { report: 'nothing', strays: 'strays', on: 'all' } as const
/** Finished jobs per call. */
const heardPerCall = 256

/** Policy for the orphans of native programs. */
export interface RepairPolicy {
  /** `report` only reports; `strays` takes no job from a worker that may only be slow. */
  readonly mode: 'report' | 'strays' | 'on'
  /** A job that has not changed for this long is an orphan, milliseconds. */
  readonly leaseMs: number
}

interface Parts extends NodeContext {
  readonly repair: RepairPolicy | undefined
  readonly nativeOutcomes: NativeOutcomes
}

/**
 * Settles jobs that native workers finished without waiters, and repairs the orphans of native
 * programs. One node leads; each step is atomic, so that two leaders do no harm.
 */
export class NativeRecovery implements LaneCheck {
  readonly #parts: Parts
  #worked: ReadonlySet<string> = new Set()
  #leads = false
  #lanes: readonly string[] = []
  #lane = 0
  #sweepFrom: string | undefined
  #beats = 0
  #jidsFrom: string | undefined
  /**
   * Start of the current walk through all jobs, and of the last complete one; this node's clock.
   */
  #lapSinceMs: number | undefined
  #wholeLapSinceMs: number | undefined
  /** The current walk may have begun in the middle: another node led before. */
  #isPartial = true
  /** Lanes with candidates in this walk, and in the last one. */
  #suspicious = new Set<string>()
  #suspiciousBefore: ReadonlySet<string> = new Set()
  readonly #suspiciousTurns = new Turns()
  readonly #workedTurns = new Turns()
  readonly #awaitedTurns = new Turns()
  readonly #finished = new Map<string, number[]>()
  #armed = false
  readonly #pace = new SurveyPace()

  constructor(parts: Parts) {
    const { events, subscriptions, tasks } = parts
    this.#parts = parts
    events.on('started', (lane) => this.#started(lane))
    events.on('finishedUnawaited', (lane, id) => this.#finishedUnawaited(lane, id))
    events.on('reconnected', () => this.#eventsMissed())
    subscriptions.want(() => this.#watched())
    tasks.add({ name: 'native recovery', isFirst: true, run: () => this.#beat() })
  }

  /** True while this is the node that leads. */
  get leads(): boolean {
    return this.#leads
  }

  /** Lanes with native workers, whose events this node must receive: where it leads, or has waiting clients. */
  #watched(): Iterable<string> {
    const { waiters } = this.#parts
    return this.#leads ? this.#worked : [...this.#worked].filter((lane) => waiters.hasLane(lane))
  }

  /** A worker began a job. */
  #started(lane: string): void {
    if (this.#leads && this.#worked.has(lane)) this.#pace.fullPace()
  }

  /** Messages of native workers may be missing. */
  #eventsMissed(): void {
    if (this.#worked.size > 0) this.#pace.fullPace()
  }

  /** A job without a waiter at this node was finished. */
  #finishedUnawaited(lane: string, id: number): void {
    if (!this.#leads || !this.#worked.has(lane)) return
    this.#pace.fullPace()
    const ids = this.#finished.get(lane)
    if (ids) ids.push(id)
    else this.#finished.set(lane, [id])
    if (this.#armed) return
    this.#armed = true
    this.#parts.clock.endOfTurn(() => {
      this.#armed = false
      this.#settleHeard()
    })
  }

  /** Called once a second. */
  async #beat(): Promise<void> {
    const { store, repair, waiters } = this.#parts
    const had = this.#leads
    this.#leads = await store.native.holdLeadership(leadForMs)
    if (!this.#leads || !had) this.#forgetLaps()
    await this.#findWorkers(this.#awaitedTurns.next([...waiters.lanes()], awaitedPerBeat))
    if (!this.#leads) return
    this.#beats += 1
    const turn = this.#beats % beatsPerQuietStep
    if (this.#pace.isFull || turn === 0) await this.#sweep()
    if (this.#pace.isFull || turn === beatsPerQuietStep / 2) await this.#sweepJids()
    await this.#surveyAll()
    if (!repair) return
    const suspicious = [...new Set([...this.#suspiciousBefore, ...this.#suspicious])]
    const worked = this.#mendsCounts ? this.#workedTurns.next([...this.#worked], lanesPerBeat) : []
    await this.#findWorkers(worked)
    await this.#repair([...this.#suspiciousTurns.next(suspicious, lanesPerBeat), ...worked], repair)
  }

  /** Learns which of these lanes have native workers, and mends their counts. */
  async look(lanes: readonly string[]): Promise<readonly string[]> {
    const { repair } = this.#parts
    await this.#findWorkers(lanes)
    if (repair && this.#mendsCounts) await this.#repair(lanes, repair)
    return []
  }

  /** Learns which of these lanes have native workers. */
  async #findWorkers(lanes: readonly string[]): Promise<void> {
    if (lanes.length === 0) return
    const { store, registry } = this.#parts
    const found = await store.native.workedLanes(lanes, this.#leads && this.#mendsCounts)
    const worked = new Set(this.#worked)
    for (const lane of lanes) worked.delete(lane)
    for (const lane of worked) if (registry.numberOf(lane) === undefined) worked.delete(lane)
    if (found.some((lane) => !this.#worked.has(lane))) this.#pace.fullPace()
    for (const lane of found) worked.add(lane)
    this.#worked = worked
  }

  /** Counting idle workers needs a check of all lanes: only some policies pay for it. */
  get #mendsCounts(): boolean {
    const { repair } = this.#parts
    return repair !== undefined && repair.mode !== 'strays'
  }

  #settleHeard(): void {
    for (const [lane, ids] of this.#finished) {
      for (let at = 0; at < ids.length; at += heardPerCall) {
        this.#settle(lane, ids.slice(at, at + heardPerCall)).catch((error: unknown) =>
          this.#parts.observer.error('settle native jobs', error),
        )
      }
    }
    this.#finished.clear()
  }

  async #settle(lane: string, ids: readonly number[]): Promise<void> {
    const unsettled = await this.#parts.store.native.unsettled(lane, ids)
    if (unsettled.length > 0) await this.#parts.nativeOutcomes.settleThese(lane, unsettled)
  }

  /** Goes round the lanes, so that each has its turn. */
  async #sweep(): Promise<void> {
    const { isFull } = this.#pace
    for (let step = 0; step < (isFull ? sweepsPerBeat : 1); step += 1) {
      if (this.#lane >= this.#lanes.length) {
        // At most one round per beat.
        if (step > 0 && this.#lanes.length > 0) this.#lanes = []
        else this.#lanes = [...this.#parts.registry.all()]
        this.#lane = 0
      }
      const lane = this.#lanes[this.#lane]
      if (lane === undefined) return
      const most = isFull ? undefined : quietEntries
      const { ids, next } = await this.#parts.store.native.sweep(lane, this.#sweepFrom, most)
      this.#sweepFrom = next
      if (next === undefined) this.#lane += 1
      if (ids.length > 0) await this.#parts.nativeOutcomes.settleThese(lane, ids)
    }
  }

  async #sweepJids(): Promise<void> {
    const { store, nativeOutcomes } = this.#parts
    const { isFull } = this.#pace
    for (let step = 0; step < (isFull ? jidSweepsPerBeat : 1); step += 1) {
      const most = isFull ? undefined : quietEntries
      const { refs, next } = await store.native.sweepJids(this.#jidsFrom, most)
      this.#jidsFrom = next
      for (const [lane, ids] of byLane(refs)) await nativeOutcomes.settleThese(lane, ids)
      if (next === undefined) return
    }
  }

  async #surveyAll(): Promise<void> {
    this.#pace.beat()
    while (this.#pace.hasRoom) if (await this.#survey()) return
  }

  /** True at the end of a walk through all jobs. */
  async #survey(): Promise<boolean> {
    const { store, clock, repair, registry, registrar, nativeOutcomes } = this.#parts
    this.#lapSinceMs ??= clock.nowMs()
    const page = await store.native.survey(repair !== undefined, this.#pace.max)
    this.#pace.looked(page)
    for (const [lane, ids] of byLane(page.unsettled)) await nativeOutcomes.settleThese(lane, ids)
    for (const lane of page.suspicious) {
      this.#suspicious.add(lane)
      if (registry.numberOf(lane) === undefined) await registrar.register(lane)
    }
    if (!page.lapEnded) return false
    this.#suspiciousBefore = this.#suspicious
    this.#suspicious = new Set()
    if (!this.#isPartial) this.#wholeLapSinceMs = this.#lapSinceMs
    this.#isPartial = false
    this.#lapSinceMs = undefined
    return true
  }

  /**
   * Repairs only candidates older than the last complete walk: it must have met every busy native
   * worker before a count is corrected.
   */
  async #repair(lanes: readonly string[], { mode, leaseMs }: RepairPolicy): Promise<void> {
    if (this.#wholeLapSinceMs === undefined || lanes.length === 0) return
    const { store, clock, observer, retryPolicy } = this.#parts
    const sinceLapMs = clock.nowMs() - this.#wholeLapSinceMs
    const request = {
      leaseMs: Math.max(leaseMs, sinceLapMs),
      mends: mends[mode],
      max: repairsPerBeat,
      ...retryPolicy.ofLoss(),
    }
    for (const repair of await store.native.repair(lanes, request)) {
      observer.repaired(repair, mode !== 'report' && !repair.left)
    }
  }

  #forgetLaps(): void {
    this.#lapSinceMs = undefined
    this.#wholeLapSinceMs = undefined
    this.#isPartial = true
  }
}

/** Some of the lanes of a list at a time, in turn. */
class Turns {
  #next = 0

  next(lanes: readonly string[], most: number): readonly string[] {
    if (this.#next >= lanes.length) this.#next = 0
    const some = lanes.slice(this.#next, this.#next + most)
    this.#next += some.length
    return some
  }
}

function byLane(refs: readonly JobRef[]): ReadonlyMap<string, readonly number[]> {
  const lanes = new Map<string, number[]>()
  for (const { lane, id } of refs) {
    const ids = lanes.get(lane)
    if (ids) ids.push(id)
    else lanes.set(lane, [id])
  }
  return lanes
}
