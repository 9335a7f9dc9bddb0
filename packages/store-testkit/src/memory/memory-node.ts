import {
  SingleSteps,
  StoreError,
  maxLanes,
  type ClaimRequest,
  type HeldRef,
  type Job,
  type JobRef,
  type JobState,
  type JobSummary,
  type LaneArrivals,
  type LaneCounts,
  type LaneLimits,
  type LaneOpenness,
  type LaneOutcomes,
  type LaneSubmitted,
  type LeasedJob,
  type LookExtra,
  type Outcome,
  type HeartbeatReply,
  type Report,
  type Lease,
  type Settled,
  type Step,
  type StepAnswer,
  type Store,
  type StoreListener,
  type Submitted,
  type WorkerCount,
} from '@crossgear/core-scheduler'
import { cancelJob, clearLane, listJobs } from './lanes/administration.ts'
import { claimJobs, headOf } from './jobs/claim.ts'
import { finishJob } from './jobs/finish.ts'
import { jobOf, stateOf, uniqueKey } from './memory-lane.ts'
import { healLane, inheritClosed, opennessOf, takeBackBridged } from './lanes/openness.ts'
import {
  heldIn,
  forgetNodeIn,
  expiredIn,
  promoteDue,
  takeReport,
  wakeAll as wake,
} from './lanes/upkeep.ts'
import { MemoryNativeStore } from './native/memory-native-store.ts'
import { MemoryBatches } from './jobs/memory-batches.ts'
import { MemoryCron } from './memory-cron.ts'
import { MemoryHolders } from './memory-holders.ts'
import { MemoryInspection } from './memory-inspection.ts'
import { MemoryQueues } from './lanes/memory-queues.ts'
import { submitJob } from './jobs/submit.ts'
import type { MemoryWorld } from './memory-world.ts'

/** One node's store in a {@link MemoryWorld}. */
export class MemoryNode extends SingleSteps implements Store {
  readonly node: string
  watched: ReadonlySet<string> | 'all' = new Set()
  listener: StoreListener | undefined
  readonly queues: MemoryQueues
  readonly batches: MemoryBatches
  readonly cron: MemoryCron
  readonly holders: MemoryHolders
  readonly inspect: MemoryInspection
  readonly native: MemoryNativeStore
  readonly #world: MemoryWorld
  readonly #graceMs: number
  #tokens = 0
  #crashed = false

  constructor(world: MemoryWorld, node: string, graceMs: number) {
    super()
    this.#world = world
    this.node = node
    this.#graceMs = graceMs
    this.native = new MemoryNativeStore(node, (run) => this.#step(run))
    this.cron = new MemoryCron((run) => this.#step(run))
    this.holders = new MemoryHolders((run) => this.#step(run))
    this.inspect = new MemoryInspection((run) => this.#step(run))
    this.batches = new MemoryBatches((run) => this.#step(run))
    this.queues = new MemoryQueues(node, (run) => this.#step(run))
  }

  /** Ends the node's process abruptly: it no longer reaches the store and hears nothing. */
  crash(): void {
    this.#crashed = true
    this.listener = undefined
  }

  registerLane(lane: string): Promise<number> {
    return this.#step(({ numbers }) => {
      const known = numbers.get(lane)
      if (known !== undefined) return known
      if (numbers.size >= maxLanes) throw new StoreError('TOO_MANY_LANES', 'too many functions')
      const number = this.#world.nextLaneNumber()
      numbers.set(lane, number)
      const { fn } = this.#world.names.parse(lane)
      if (fn !== lane) inheritClosed(this.#world, fn, lane, this.#graceMs)
      this.#world.tell(
        () => true,
        (listener) => listener.laneAdded(lane, number),
      )
      return number
    })
  }

  lanes(): Promise<ReadonlyMap<string, number>> {
    return this.#step((world) => new Map(world.numbers))
  }

  readonly isSharded = false

  /** Runs all parts in one go. */
  step({ reports, outcomes, submissions, claims }: Step): Promise<StepAnswer> {
    return this.#step((world) => ({
      reports: reports.map((report) => this.#report(world, report)),
      outcomes: outcomes.map((lane) => this.#finish(world, lane)),
      submissions: this.#submit(world, submissions),
      claims: claims.map((request) => this.#claim(world, request)),
    }))
  }

  #report(world: MemoryWorld, report: Report): boolean {
    return takeReport(world, this.node, world.lane(report.lane), report)
  }

  #submit(world: MemoryWorld, arrivals: readonly LaneArrivals[]): LaneSubmitted[] {
    const line = arrivals.flatMap(({ lane, jobs, places }, of) =>
      jobs.map((job, at) => ({ of, at, lane, job, place: places[at] ?? 0 })),
    )
    line.sort((one, other) => one.place - other.place)
    const results = arrivals.map((): Submitted[] => [])
    for (const { of, at, lane, job } of line) {
      const result = submitJob(world, this.node, world.lane(lane), job)
      const ofLane = results[of]
      if (ofLane) ofLane[at] = result
    }
    return arrivals.map(({ lane }, of) => ({
      results: results[of] ?? [],
      isPublished: true,
      isOpen: world.lane(lane).openness(world.nowMs()) !== undefined,
    }))
  }

  #claim(world: MemoryWorld, request: ClaimRequest): readonly Lease[] {
    return claimJobs(world, request, () => {
      this.#tokens += 1
      return `${this.node}-${this.#tokens}`
    })
  }

  #finish(world: MemoryWorld, { lane, outcomes }: LaneOutcomes): readonly Settled[] {
    const settled: Settled[] = []
    const finish = (outcome: Outcome, at: number): void => {
      settled[at] = finishJob(world, this.node, world.lane(lane), outcome)
    }
    // In reverse: each goes before those of its level, and the first must be first again.
    const isRequeueFront = ({ kind }: Outcome): boolean => kind === 'requeueFront'
    for (const [at, outcome] of outcomes.entries())
      if (!isRequeueFront(outcome)) finish(outcome, at)
    for (let at = outcomes.length - 1; at >= 0; at -= 1) {
      const outcome = outcomes[at]
      if (outcome && isRequeueFront(outcome)) finish(outcome, at)
    }
    return settled
  }

  abandon(lane: string, ids: readonly number[]): Promise<void> {
    return this.#step((world) => {
      for (const id of ids) {
        const job = world.lane(lane).job(id, world.nowMs())
        const at = job?.waiting.indexOf(this.node) ?? -1
        if (at >= 0) job?.waiting.splice(at, 1)
      }
    })
  }

  read(lane: string, ids: readonly number[]): Promise<readonly (Job | undefined)[]> {
    return this.#step((world) =>
      ids.map((id) => {
        const job = world.lane(lane).job(id, world.nowMs())
        return job && jobOf(lane, job)
      }),
    )
  }

  look(
    lane: string,
    ids: readonly number[],
    extras?: readonly LookExtra[],
  ): Promise<readonly (JobState | undefined)[]> {
    return this.#step((world) =>
      ids.map((id) => {
        const job = world.lane(lane).job(id, world.nowMs())
        return job && stateOf(lane, job, extras)
      }),
    )
  }

  findJid(jid: string): Promise<JobRef | undefined> {
    return this.#step((world) => {
      for (const { lane, jids } of world.lanes) {
        const id = jids.get(jid)
        if (id !== undefined) return { lane, id }
      }
      return undefined
    })
  }

  findUniques(
    uniques: readonly Uint8Array[],
    lanes: readonly string[],
  ): Promise<readonly (readonly JobRef[])[]> {
    return this.#step((world) =>
      uniques.map((unique) =>
        lanes.flatMap((lane) => {
          const id = world.lane(lane).unique.get(uniqueKey(unique))
          return id === undefined ? [] : [{ lane, id }]
        }),
      ),
    )
  }

  async counts(lanes: readonly string[], withOldest = false): Promise<readonly LaneCounts[]> {
    const since = withOldest ? await this.queues.oldest(lanes) : []
    return this.#step((world) =>
      lanes.map((lane, at) => {
        const oldestMs = since[at]
        return { ...world.lane(lane).counts(), ...(oldestMs !== undefined && { oldestMs }) }
      }),
    )
  }

  discover(): Promise<readonly string[]> {
    return this.#step((world) => {
      const found = [...world.lanes].filter((lane) => lane.queued + lane.scheduled.size > 0)
      return found.map(({ lane }) => lane)
    })
  }

  nonEmpty(lanes: readonly string[]): Promise<readonly string[]> {
    return this.#step((world) => {
      const found = lanes.filter((lane) => world.lane(lane).hasWanted)
      for (const lane of found) headOf(world, world.lane(lane))
      return found
    })
  }

  setLimits(lane: string, limits: LaneLimits): Promise<void> {
    return this.#step((world) => {
      world.lane(lane).limits = limits
    })
  }

  cancel(lane: string, id: number): Promise<boolean> {
    return this.#step((world) => cancelJob(world, this.node, world.lane(lane), id))
  }

  listJobs(
    lane: string,
    from: number,
    count: number,
  ): Promise<{ readonly jobs: readonly JobSummary[]; readonly more: boolean }> {
    return this.#step((world) => listJobs(world, world.lane(lane), from, count))
  }

  clearLane(lane: string, max: number): Promise<readonly number[] | 'busy'> {
    return this.#step((world) => clearLane(world, this.node, world.lane(lane), max))
  }

  unregisterLane(lane: string): Promise<void> {
    return this.#step((world) => {
      world.numbers.delete(lane)
      world.tell(
        () => true,
        (listener) => listener.laneDropped(lane),
      )
    })
  }

  giveBackLanes(lanes: readonly string[], idleForMs: number): Promise<readonly string[]> {
    return this.#step((world) => {
      const over = lanes.filter((lane) => world.lane(lane).isOver(world.nowMs(), idleForMs))
      for (const lane of over) {
        world.numbers.delete(lane)
        world.tell(
          () => true,
          (listener) => listener.laneDropped(lane),
        )
      }
      return over
    })
  }

  openLane(lane: string): Promise<void> {
    return this.#step((world) => {
      world.lane(lane).isOpen = true
      const { queued } = world.lane(lane)
      if (queued > 0) wake(world, lane, 1)
    })
  }

  closeLane(lane: string): Promise<void> {
    return this.#step((world) => {
      world.lane(lane).isOpen = false
      world.tell(
        () => true,
        (listener) => listener.laneClosed(lane),
      )
    })
  }

  openness(lanes: readonly string[]): Promise<readonly LaneOpenness[]> {
    return this.#step((world) => lanes.map((lane) => opennessOf(world, world.lane(lane))))
  }

  noteBridged(lane: string): Promise<boolean> {
    return this.#step((world) => {
      const isFirst = !world.bridged.has(lane)
      world.bridged.add(lane)
      return isFirst
    })
  }

  setWorkers(counts: ReadonlyMap<string, WorkerCount>): Promise<ReadonlyMap<string, StoreError>> {
    return this.#step((world) => {
      for (const [lane, count] of counts) {
        const told = world.lane(lane)
        const { workers, queued } = told
        const before = workers.get(this.node)
        workers.set(this.node, count)
        if (count.named > 0 || before?.named || count.elsewhere)
          told.noteNamed(world.nowMs(), this.#graceMs)
        if (count.named > 0) takeBackBridged(world, told)
        if (count.named === 0 && before?.named && queued > 0) wake(world, lane, queued)
      }
      return new Map()
    })
  }

  promote(): Promise<readonly { readonly lane: string; readonly jobs: number }[]> {
    return this.#step((world) => promoteDue(world))
  }

  heal(lanes: readonly string[]): Promise<readonly string[]> {
    return this.#step((world) => {
      for (const lane of lanes) headOf(world, world.lane(lane))
      return lanes.filter((lane) => healLane(world, world.lane(lane), this.#graceMs))
    })
  }

  expired(lanes: readonly string[], max: number): Promise<readonly LeasedJob[]> {
    return this.#step((world) => lanes.flatMap((lane) => expiredIn(world, world.lane(lane), max)))
  }

  held(lanes: readonly string[]): Promise<readonly HeldRef[]> {
    return this.#step((world) =>
      lanes.flatMap((lane) => heldIn(world, world.lane(lane), this.node)),
    )
  }

  beat(): Promise<HeartbeatReply> {
    return this.#step((world) => {
      const nowMs = world.nowMs()
      const last = world.beats.get(this.node)
      world.beats.set(this.node, last === nowMs ? nowMs + 1 : nowMs)
      const heartbeats = new Map([...world.beats].filter(([node]) => node !== this.node))
      return { nowMs, heartbeats, wasReclaimed: last === undefined }
    })
  }

  reclaimNode(
    node: string,
    lanes: readonly string[],
    maxLosses: number,
    failure?: string,
  ): Promise<readonly string[]> {
    return this.#step((world) => {
      world.beats.delete(node)
      const departure = { node, isDeath: true, maxLosses, failure }
      return lanes.filter(
        (lane) => forgetNodeIn(world, world.lane(lane), departure, this.#graceMs) > 0,
      )
    })
  }

  waitAgain(lane: string, clients: ReadonlyMap<number, number>): Promise<void> {
    return this.#step((world) => {
      for (const [id, count] of clients) {
        const job = world.lane(lane).job(id, world.nowMs())
        if (!job || job.settled || job.waiting.includes(this.node)) continue
        for (let client = 0; client < count; client += 1) job.waiting.push(this.node)
      }
    })
  }

  async leave(lanes: readonly string[]): Promise<void> {
    await this.#step((world) => {
      world.beats.delete(this.node)
      const departure = { node: this.node, isDeath: false, maxLosses: 0 }
      for (const lane of lanes) forgetNodeIn(world, world.lane(lane), departure, this.#graceMs)
    })
    await this.native.holdLeadership(0)
  }

  watch(lanes: ReadonlySet<string> | 'all'): Promise<void> {
    return this.#step(() => {
      this.watched = lanes
    })
  }

  listen(listener: StoreListener): void {
    this.listener = listener
  }

  delivered(): Promise<void> {
    return Promise.resolve()
  }

  check(): Promise<void> {
    return this.#step(() => undefined)
  }

  close(): Promise<void> {
    this.listener = undefined
    return Promise.resolve()
  }

  /** One atomic step: done when called, answered a little later. */
  #step<Result>(run: (world: MemoryWorld) => Result): Promise<Result> {
    try {
      if (this.#crashed) throw new StoreError('UNREACHABLE', `${this.node} is no more`)
      this.#world.demand()
      return Promise.resolve(run(this.#world))
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)))
    }
  }
}
