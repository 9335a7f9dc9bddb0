import type { JobRef } from '../model/job.ts'
import type { LaneRegistrar } from '../intake/lane-registrar.ts'
import type { NativeOutcomes } from '../results/native-outcomes.ts'
import { LaneRounds } from './lane-rounds.ts'
import { SurveyPace } from './survey-pace.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Clock } from '../clock.ts'
import type { Observer } from '../observer.ts'
import type { Store } from '../store/store.ts'
import type { RetryPolicy } from '../model/retry-policy.ts'

/** Leadership passes to another node when its owner is silent for this long, milliseconds. */
const leadForMs = 3_500
/** Steps through indexes of unfinished jobs per beat, each at most 1 ms of the store's time. */
const sweepsPerBeat = 20
/** The same through the index of jids. */
const jidSweepsPerBeat = 4
/** Repairs per lane and beat. */
const repairsPerBeat = 50
/** Lanes with orphans per beat; the rest wait for the next one. */
const lanesPerBeat = 256
/** Lanes per check for native workers; more lanes take turns, all within five checks. */
const lanesPerCheck = 2_000
const checksPerRound = 5

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

export interface NativeRecoveryParts {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Observer
  readonly registry: LaneRegistry
  readonly retryPolicy: RetryPolicy
  readonly repair: RepairPolicy | undefined
  readonly registrar: LaneRegistrar
  readonly nativeOutcomes: NativeOutcomes
}

/**
 * Settles jobs that native workers finished without waiters, and repairs the orphans of native
 * programs. One node leads; each step is atomic, so that two leaders do no harm.
 */
export class NativeRecovery {
  readonly #parts: NativeRecoveryParts
  #worked: ReadonlySet<string> = new Set()
  #leads = false
  #lanes: readonly string[] = []
  #lane = 0
  #sweepFrom: string | undefined
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
  #repaired = 0
  readonly #finished = new Map<string, number[]>()
  #armed = false
  readonly #rounds: LaneRounds
  readonly #pace = new SurveyPace()

  constructor(parts: NativeRecoveryParts) {
    this.#parts = parts
    this.#rounds = new LaneRounds(parts.registry, lanesPerCheck, checksPerRound)
  }

  /** True while this is the node that leads. */
  get leads(): boolean {
    return this.#leads
  }

  /** Lanes with native workers, whose events this node must receive. */
  get watched(): Iterable<string> {
    return this.#leads ? this.#worked : []
  }

  /** True if native workers are counted for a lane. */
  isWorked(lane: string): boolean {
    return this.#worked.has(lane)
  }

  /** A job without a waiter at this node was finished. */
  finished(lane: string, id: number): void {
    if (!this.#leads || !this.#worked.has(lane)) return
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
  async beat(): Promise<void> {
    const { store, repair } = this.#parts
    const had = this.#leads
    this.#leads = await store.native.holdLeadership(leadForMs)
    if (!this.#leads || !had) this.#forgetLaps()
    const lanes = this.#rounds.next()
    await this.#findWorkers(lanes)
    if (!this.#leads) return
    await this.#sweep()
    await this.#sweepJids()
    await this.#surveyAll()
    if (repair) await this.#repair(lanes, repair)
  }

  /** Learns which of these lanes have native workers. */
  async #findWorkers(lanes: readonly string[]): Promise<void> {
    const { store, registry } = this.#parts
    const found = await store.native.workedLanes(lanes, this.#leads && this.#mendsCounts)
    const worked = new Set(this.#worked)
    for (const lane of lanes) worked.delete(lane)
    for (const lane of worked) if (registry.numberOf(lane) === undefined) worked.delete(lane)
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
    for (let step = 0; step < sweepsPerBeat; step += 1) {
      if (this.#lane >= this.#lanes.length) {
        // At most one round per beat.
        if (step > 0 && this.#lanes.length > 0) this.#lanes = []
        else this.#lanes = [...this.#parts.registry.all()]
        this.#lane = 0
      }
      const lane = this.#lanes[this.#lane]
      if (lane === undefined) return
      const { ids, next } = await this.#parts.store.native.sweep(lane, this.#sweepFrom)
      this.#sweepFrom = next
      if (next === undefined) this.#lane += 1
      if (ids.length > 0) await this.#parts.nativeOutcomes.settleThese(lane, ids)
    }
  }

  async #sweepJids(): Promise<void> {
    const { store, nativeOutcomes } = this.#parts
    for (let step = 0; step < jidSweepsPerBeat; step += 1) {
      const { refs, next } = await store.native.sweepJids(this.#jidsFrom)
      this.#jidsFrom = next
      for (const [lane, ids] of byLane(refs)) await nativeOutcomes.settleThese(lane, ids)
      if (next === undefined) return
    }
  }

  async #surveyAll(): Promise<void> {
    this.#pace.beat()
    if (this.#worked.size > 0) this.#pace.fullPace()
    while (this.#pace.hasRoom) if (await this.#survey()) return
  }

  /** True at the end of a walk through all jobs. */
  async #survey(): Promise<boolean> {
    const { store, clock, repair, registry, registrar, nativeOutcomes } = this.#parts
    this.#lapSinceMs ??= clock.nowMs()
    const page = await store.native.survey(repair !== undefined)
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
    if (this.#wholeLapSinceMs === undefined) return
    const { store, clock, observer, retryPolicy } = this.#parts
    const sinceLapMs = clock.nowMs() - this.#wholeLapSinceMs
    const request = {
      leaseMs: Math.max(leaseMs, sinceLapMs),
      mends: mends[mode],
      max: repairsPerBeat,
      ...retryPolicy.ofLoss(),
    }
    const concerned = this.#mendsCounts ? lanes : this.#nextSuspicious()
    for (const repair of await store.native.repair(concerned, request)) {
      observer.repaired(repair, mode !== 'report' && !repair.left)
    }
  }

  /** Some of the lanes with candidates, in turn. */
  #nextSuspicious(): readonly string[] {
    const all = [...new Set([...this.#suspiciousBefore, ...this.#suspicious])]
    if (this.#repaired >= all.length) this.#repaired = 0
    const some = all.slice(this.#repaired, this.#repaired + lanesPerBeat)
    this.#repaired += some.length
    return some
  }

  #forgetLaps(): void {
    this.#lapSinceMs = undefined
    this.#wholeLapSinceMs = undefined
    this.#isPartial = true
    this.#pace.fullPace()
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
