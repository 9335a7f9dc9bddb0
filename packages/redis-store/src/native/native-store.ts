import type {
  JobRef,
  NativeStore,
  Repair,
  RepairRequest,
  SurveyPage,
} from '@crossgear/core-scheduler'
import { chunks } from '../chunks.ts'
import { JidIndex } from '../jobs/jid-index.ts'
import { KeyScan } from '../lanes/key-scan.ts'
import type { QueueKind } from '@crossgear/gearmonkey-redis'
import type { RedisContext } from '../connection/redis-context.ts'
import { OrphanScanner } from './orphan-scanner.ts'

/** Keys of jobs and of their locks, and few others. */
const jobsAndLocks = '[jl]o[bc]*:*'
/** Keys per look, under a millisecond of the server's time. */
const keysPerLook = 1_000
/** Index entries per step of a sweep, about 1 ms of the server's time. */
const entriesPerSweep = 250
const lanesPerCall = 1_000

const orphanOf: Readonly<Record<string, Omit<Repair, 'lane' | 'id'>>> = {
  b: { kind: 'busy' },
  k: { kind: 'busy', left: true },
  i: { kind: 'stray' },
  h: { kind: 'count' },
}
/** Jobs per call, some 1 ms of the server's time. */
const jobsPerCall = 100

interface LaneJobs {
  readonly lane: string
  readonly ids: readonly number[]
}

interface ScannedLane {
  readonly lane: string
  readonly unsettled: readonly JobRef[]
  readonly isSuspicious: boolean
}

/** How many dead jobs a lane keeps, and for how long. */
export interface DeadBounds {
  readonly deadPerLane: number
  readonly deadSeconds: number
}

/** The store port's part for work of native programs that no node saw. */
export class RedisNativeStore implements NativeStore {
  readonly #context: RedisContext
  readonly #dead: DeadBounds
  readonly #jids: JidIndex
  readonly #orphans: OrphanScanner
  readonly #scan: KeyScan
  /** Keys that the scan found and no page has held. */
  #found: readonly string[] = []

  constructor(context: RedisContext, dead: DeadBounds) {
    this.#context = context
    this.#dead = dead
    this.#jids = new JidIndex(context)
    this.#scan = new KeyScan(context, jobsAndLocks, keysPerLook)
    this.#orphans = new OrphanScanner({
      page: (lane, place, from, count) => this.#page(lane, place, from, count),
      remember: async (lane, ids) => {
        await context.run('add-candidates', [context.keys.repairCandidates(lane)], [lane, ...ids])
      },
    })
  }

  async holdLeadership(forMs: number): Promise<boolean> {
    const { run, keys, node } = this.#context
    return (await run('leader', [keys.leader], [node, forMs])) === 1
  }

  async workedLanes(lanes: readonly string[], remember: boolean): Promise<readonly string[]> {
    const { run, keys, perLanesThere } = this.#context
    return perLanesThere(lanes, async (some, first) => {
      const args = [remember ? '1' : '', ...some]
      return ((await run('worked-lanes', [keys.count(first)], args)) as Buffer[]).map(String)
    })
  }

  async unsettled(lane: string, ids: readonly number[]): Promise<readonly number[]> {
    const { run, keys } = this.#context
    return numbersOf((await run('unsettled', [keys.busy(lane)], [lane, ...ids])) as Buffer[])
  }

  async sweep(
    lane: string,
    from = 'unique 0',
    most = entriesPerSweep,
  ): Promise<{ readonly ids: readonly number[]; readonly next: string | undefined }> {
    const { run, keys } = this.#context
    const [index = '', cursor = '0'] = from.split(' ')
    const key = index === 'unique' ? keys.unique(lane) : keys.jid(lane)
    const reply = (await run('sweep', [key], [lane, cursor, most])) as Buffer[]
    const [next = '0', ...ids] = numbersAsText(reply)
    if (index === 'jid' && this.#context.isCluster) await this.#jids.heal(lane, cursor)
    const following = index === 'unique' ? 'jid 0' : undefined
    return { ids: ids.map(Number), next: next === '0' ? following : `${index} ${next}` }
  }

  sweepJids(
    from?: string,
    most?: number,
  ): Promise<{ readonly refs: readonly JobRef[]; readonly next: string | undefined }> {
    return this.#jids.sweep(from, most)
  }

  async survey(remember: boolean, most = Infinity): Promise<SurveyPage> {
    if (this.#orphans.isOn) {
      const isOver = await this.#orphans.goOn()
      return { jobs: 0, unsettled: [], suspicious: [], lapEnded: isOver && this.#isAtStart }
    }
    const { keys } = this.#context
    if (this.#found.length === 0) this.#found = await this.#scan.next()
    const found = this.#take(most)
    const byLane = idsByLane(found, (key) => keys.jobOf(key))
    await this.#endLocks(idsByLane(found, (key) => keys.lockOf(key)))
    let jobs = 0
    const unsettled: JobRef[] = []
    const suspicious: string[] = []
    for (const lanes of this.#calls(byLane)) {
      for (const { ids } of lanes) jobs += ids.length
      for (const found of await this.#scanJobs(lanes, remember)) {
        unsettled.push(...found.unsettled)
        if (found.isSuspicious) suspicious.push(found.lane)
      }
    }
    const lapEnded = this.#isAtStart
    if (lapEnded || this.#orphans.isFull) this.#orphans.begin()
    return { jobs, unsettled, suspicious, lapEnded: lapEnded && !this.#orphans.isOn }
  }

  /** True if the next page begins a lap. */
  get #isAtStart(): boolean {
    return this.#found.length === 0 && this.#scan.isAtStart
  }

  /** Takes keys out of what the scan found, with up to so many of jobs. */
  #take(most: number): readonly string[] {
    let jobs = 0
    const rest = this.#found.findIndex((key) => key.startsWith('job:') && ++jobs > most)
    const taken = rest < 0 ? this.#found : this.#found.slice(0, rest)
    this.#found = rest < 0 ? [] : this.#found.slice(rest)
    return taken
  }

  async repair(lanes: readonly string[], request: RepairRequest): Promise<readonly Repair[]> {
    const { run, keys, node } = this.#context
    const { leaseMs, mends, max, maxLosses, failure } = request
    const { deadPerLane, deadSeconds } = this.#dead
    const repairs: Repair[] = []
    for (const some of chunks(lanes, lanesPerCall)) {
      const replies = await Promise.all(
        some.map((lane) => {
          const args = [
            lane,
            node,
            this.#context.queueOf(lane),
            leaseMs,
            mends,
            max,
            maxLosses,
            failure,
            deadPerLane,
            deadSeconds,
          ]
          return run('repair', [keys.repairCandidates(lane)], args)
        }),
      )
      for (const [at, lane] of some.entries()) repairs.push(...repairsOf(lane, replies[at]))
    }
    return repairs
  }

  /** Jobs of lanes, as many as a call looks at. In a cluster a call is for one lane. */
  #calls(byLane: ReadonlyMap<string, readonly number[]>): readonly LaneJobs[][] {
    const calls: LaneJobs[][] = []
    let room = 0
    for (const [lane, all] of byLane) {
      if (this.#context.isCluster) room = 0
      for (let from = 0; from < all.length;) {
        if (room === 0) {
          calls.push([])
          room = jobsPerCall
        }
        const ids = all.slice(from, from + room)
        calls.at(-1)?.push({ lane, ids })
        from += ids.length
        room -= ids.length
      }
    }
    return calls
  }

  async #scanJobs(lanes: readonly LaneJobs[], remember: boolean): Promise<readonly ScannedLane[]> {
    const { run, keys } = this.#context
    const words = lanes.flatMap(({ lane, ids }) => [lane, ids.length, ...ids])
    const key = keys.repairCandidates(lanes[0]?.lane ?? '')
    const replies = (await run('scan-jobs', [key], [remember ? '1' : '', ...words])) as [
      number,
      number,
      ...Buffer[],
    ][]
    return replies.map(([isSuspicious, count, ...rest], at) => {
      const lane = lanes[at]?.lane ?? ''
      const found = numbersOf(rest)
      this.#orphans.add(lane, found.slice(count))
      const unsettled = found.slice(0, count).map((id) => ({ lane, id }))
      return { lane, unsettled, isSuspicious: isSuspicious === 1 }
    })
  }

  async #endLocks(byLane: ReadonlyMap<string, readonly number[]>): Promise<void> {
    const { run, keys } = this.#context
    for (const lanes of this.#calls(byLane)) {
      const words = lanes.flatMap(({ lane, ids }) => [lane, ids.length, ...ids])
      await run('end-locks', [keys.uid(lanes[0]?.lane ?? '')], words)
    }
  }

  async #page(
    lane: string,
    place: QueueKind,
    from: number,
    count: number,
  ): Promise<readonly number[]> {
    const { redis, keys, call } = this.#context
    const key = keys.queue(lane, place)
    return (await call(() => redis.lrange(key, from, from + count - 1))).map(Number)
  }
}

/** Ids of those keys that name a job, by its lane. */
function idsByLane(
  found: readonly string[],
  refOf: (key: string) => JobRef | undefined,
): Map<string, number[]> {
  const byLane = new Map<string, number[]>()
  for (const key of found) {
    const ref = refOf(key)
    if (!ref) continue
    const ids = byLane.get(ref.lane)
    if (ids) ids.push(ref.id)
    else byLane.set(ref.lane, [ref.id])
  }
  return byLane
}

function repairsOf(lane: string, reply: unknown): Repair[] {
  const words = numbersAsText(reply as Buffer[])
  const repairs: Repair[] = []
  for (let at = 0; at + 1 < words.length; at += 2) {
    const orphan = orphanOf[words[at] ?? '']
    if (orphan) repairs.push({ ...orphan, lane, id: Number(words[at + 1]) })
  }
  return repairs
}

function numbersAsText(reply: readonly Buffer[]): string[] {
  return reply.map(String)
}

function numbersOf(ids: readonly Buffer[]): number[] {
  return ids.map((id) => Number(id.toString()))
}
