import { framed } from '../connection/frames.ts'
import {
  StoreError,
  totalsOf,
  type IdleTimes,
  type LaneCounts,
  type LaneOpenness,
  type LaneSizes,
  type LaneStore,
  type LaneTotals,
  type WorkerCount,
} from '@crossgear/core-scheduler'
import { countsOf, sizesOf } from './counts.ts'
import { KeyScan } from './key-scan.ts'
import { LaneFigures } from './lane-figures.ts'
import { marksOf, noteDeadlines } from './lane-looks.ts'
import { occupiedLanes } from './occupied-lanes.ts'
import { promote } from './promotion.ts'
import { isNoTag, numbersOf, Registration, withdrawLane } from './registration.ts'
import type { QueueKind } from '@crossgear/gearmonkey-redis'
import type { ClockOffset } from '../connection/clock-offset.ts'
import type { RedisContext } from '../connection/redis-context.ts'
import type { TurnLimits } from '../step/throttle-arguments.ts'

const places = ['high', 'normal', 'low', 'scheduled'] as const satisfies QueueKind[]
/** Of so few lanes all are looked at: to ask where something stands would take a round trip. */
const fewLanes = 64
/** Registry entries per call. */
const lanesPerPage = 1_000
/** Keys per look for unknown lanes, about 2 ms of the server's time. */
const keysPerLook = 5_000

/** A further part of the store that is put right with its lanes. */
interface Healed {
  readonly heal: () => Promise<void>
}

/** The store port's part for lanes: the registry, figures, due jobs. */
export class RedisLanes implements LaneStore {
  readonly #context: RedisContext
  readonly #clock: ClockOffset
  readonly #turnLimits: TurnLimits
  readonly #cluster: Healed | undefined
  readonly #scan: KeyScan
  readonly #figures: LaneFigures
  readonly #registration: Registration

  /** `cluster` is healed with the lanes. */
  constructor(context: RedisContext, clock: ClockOffset, turnLimits: TurnLimits, cluster?: Healed) {
    this.#context = context
    this.#clock = clock
    this.#turnLimits = turnLimits
    this.#cluster = cluster
    this.#figures = new LaneFigures(context)
    this.#registration = new Registration(context)
    this.#scan = new KeyScan(context, context.keys.uid('*'), keysPerLook)
  }

  register(lane: string): Promise<number> {
    return this.#registration.register(lane)
  }

  async keep(lane: string): Promise<void> {
    const { call, redis, keys } = this.#context
    await call(() => redis.hset(keys.meta(lane), 'kept', 1))
  }

  async all(): Promise<ReadonlyMap<string, number>> {
    const { call, redis, keys } = this.#context
    const found = new Map<string, number>()
    let cursor = '0'
    do {
      const from = cursor
      const [next, page] = await call(() => redis.hscan(keys.lanes, from, 'COUNT', lanesPerPage))
      for (let at = 0; at + 1 < page.length; at += 2) {
        found.set(page[at] ?? '', Number(page[at + 1]))
      }
      cursor = next
    } while (cursor !== '0')
    return found
  }

  async giveBack(
    lanes: readonly string[],
    { unusedMs, emptiedMs, keptMs }: IdleTimes,
  ): Promise<ReadonlyMap<string, number>> {
    const { run, keys, perLanes, isCluster } = this.#context
    const times = [unusedMs, emptiedMs, keptMs]
    const over = await perLanes(lanes, async (some, first) => {
      const numbers = isCluster ? await numbersOf(this.#context, some) : []
      const named = isCluster ? some.flatMap((lane, at) => [lane, numbers[at] ?? 0]) : some
      const reply = await run('idle-lanes', [keys.meta(first)], [...times, ...named])
      return reply as [lane: Buffer, ...gone: Buffer[]][]
    })
    const given = new Map<string, number>()
    for (const [lane, ...gone] of over) {
      given.set(String(lane), Number(gone[0]))
      if (isCluster) await withdrawLane(this.#context, String(lane), gone)
    }
    return given
  }

  async formerTotals(): Promise<LaneTotals> {
    const { call, redis, keys } = this.#context
    const stored = await call(() => redis.hgetall(keys.totals))
    return totalsOf((name) => Number(stored[name] ?? 0))
  }

  async resetFormerTotals(): Promise<void> {
    const { call, redis, keys } = this.#context
    await call(() => redis.del(keys.totals))
  }

  sizes(lanes: readonly string[]): Promise<readonly LaneSizes[]> {
    return this.#figures.read(lanes, 'sizes', sizesOf)
  }

  counts(lanes: readonly string[], withOldest = false): Promise<readonly LaneCounts[]> {
    return this.#figures.read(lanes, withOldest ? 'oldest' : 'totals', countsOf)
  }

  async discover(isKnown: (lane: string) => boolean): Promise<readonly string[]> {
    const found: string[] = []
    // One look per server of the cluster.
    for (let looks = this.#context.masters().length; looks > 0; looks -= 1) {
      found.push(...(await this.#scan.next()))
    }
    const lanes = found.map((key) => this.#context.keys.laneOf(key))
    return this.#withJobs(lanes.filter((lane) => !isKnown(lane)))
  }

  /** In a shared store most such keys may belong to others. */
  async #withJobs(lanes: readonly string[]): Promise<string[]> {
    const { keys, eachLane, isCluster } = this.#context
    const named = lanes.filter((lane) => lane !== '' && !(isCluster && isNoTag(lane)))
    const queues = await eachLane(named, (commands, lane) =>
      commands.exists(places.map((place) => keys.queue(lane, place))),
    )
    return named.filter((_lane, at) => Number(queues[at]) > 0)
  }

  /** Lanes with queued or scheduled jobs, and a few more. */
  async #occupied(lanes: readonly string[]): Promise<readonly string[]> {
    if (lanes.length <= fewLanes) return lanes
    const { keys } = this.#context
    return occupiedLanes(this.#context, lanes, {
      addKeys: (lane, found) => {
        for (const place of places) found.push(keys.queue(lane, place))
      },
    })
  }

  async nonEmpty(lanes: readonly string[]): Promise<readonly string[]> {
    const { run, keys, perLanesThere } = this.#context
    return perLanesThere(await this.#occupied(lanes), async (some, first) => {
      const reply = await run(
        'non-empty',
        [keys.queue(first, 'normal')],
        this.#context.withQueues(some),
      )
      return (reply as Buffer[]).map(String)
    })
  }

  open(lane: string): Promise<void> {
    return this.#setOpen(lane, true)
  }

  close(lane: string): Promise<void> {
    return this.#setOpen(lane, false)
  }

  async #setOpen(lane: string, isOpen: boolean): Promise<void> {
    const { run, keys } = this.#context
    await run(
      'open-lane',
      [keys.meta(lane)],
      [lane, this.#context.queueOf(lane), isOpen ? '1' : '0'],
    )
  }

  openness(lanes: readonly string[]): Promise<readonly LaneOpenness[]> {
    const { run, keys } = this.#context
    return Promise.all(
      lanes.map(async (lane) => {
        const reply = (await run('openness', [keys.meta(lane)], [lane])) as [Buffer, Buffer, number]
        const [state, closedUntil, namedWorkers] = reply
        return {
          lane,
          state: state.toString() as LaneOpenness['state'],
          closedUntilMs: Number(closedUntil.toString()),
          namedWorkers,
        }
      }),
    )
  }

  async rehome(lane: string, former: string): Promise<void> {
    const { call, redis, keys } = this.#context
    await call(() => redis.zrem(keys.ready(former), lane))
    await this.heal([lane])
    await call(() => redis.publish(keys.events, framed('wake', lane, '1')))
  }

  async noteBridged(lane: string): Promise<boolean> {
    const { call, redis, keys } = this.#context
    return (await call(() => redis.hsetnx(keys.meta(lane), 'bridged', '1'))) === 1
  }

  async setWorkers(
    counts: ReadonlyMap<string, WorkerCount>,
  ): Promise<ReadonlyMap<string, StoreError>> {
    const { run, keys, node, graceMs, perLanes, isCluster } = this.#context
    if (isCluster) await run('rejoin', [keys.nodes], [node])
    const reply = await perLanes([...counts.keys()], async (some, first) => {
      const args = some.flatMap((lane) => {
        const { named = 0, consumers = 0, labelled = 0, elsewhere } = counts.get(lane) ?? {}
        const queue = this.#context.queueOf(lane)
        return [lane, named, consumers, labelled, elsewhere ? '1' : '', queue]
      })
      return (await run('set-workers', [keys.count(first)], [node, graceMs, ...args])) as Buffer[]
    })
    const words = reply.map(String)
    const refused = new Map<string, StoreError>()
    for (let at = 0; at + 1 < words.length; at += 2) {
      refused.set(words[at] ?? '', new StoreError('REFUSED', words[at + 1] ?? ''))
    }
    return refused
  }

  async skipLostIds(lanes: readonly string[]): Promise<void> {
    const { run, keys, perLanes, withEpoch } = this.#context
    await perLanes(lanes, async (some, first) => {
      await run('skip-ids', [keys.meta(first)], withEpoch([0, ...some], 0))
      return []
    })
  }

  promote(): Promise<readonly { lane: string; jobs: number }[]> {
    return promote(this.#context, this.#clock, this.#turnLimits)
  }

  marks(lanes: readonly string[]): Promise<readonly string[]> {
    return marksOf(this.#context, lanes)
  }

  noteDeadlines(lanes: readonly string[]): Promise<void> {
    return noteDeadlines(this.#context, lanes)
  }

  async overdue(max: number): Promise<readonly string[]> {
    const { run, keys } = this.#context
    return ((await run('overdue', [keys.deadlines], [max])) as Buffer[]).map(String)
  }

  async heal(lanes: readonly string[]): Promise<readonly string[]> {
    const { run, keys, graceMs, isAutoOpen, isCluster, perLanesThere } = this.#context
    const stranded = await perLanesThere(lanes, async (some, first) => {
      const args = [graceMs, isAutoOpen ? '1' : '0', ...this.#context.withQueues(some)]
      return ((await run('heal', [keys.queue(first, 'scheduled')], args)) as Buffer[]).map(String)
    })
    if (isCluster) await noteDeadlines(this.#context, lanes)
    await this.#cluster?.heal()
    return stranded
  }
}
