import { bands, LaneNames, type Store } from '@crossgear/core-scheduler'
import { MemoryStoreWorld, type NativePeer } from '@crossgear/store-testkit'
import {
  excessOf,
  reserveForSeconds,
  resizeLanes,
  turnExcessOf,
  turnLanes,
  type Settings,
} from './settings.ts'
import type { Timeline } from './timeline.ts'

/** A native peer that also reads payloads. */
export interface SimNative extends NativePeer {
  inputOf(lane: string, id: number): Promise<string>
}

/** Workers behind each node. */
export type NodeWorkers = ReadonlyMap<
  string,
  { readonly named: number; readonly consumers: number }
>

/** The one store of a world, for all its nodes. */
export interface SimStore {
  readonly native: SimNative
  /** The store's clock, milliseconds since 1970. */
  nowMs(): number
  /** Steps it, ahead or back. */
  stepClock(ms: number): void
  /** A new node's store. */
  join(name: string): Promise<Store>
  /** The node's process has ended. */
  crash(name: string): void
  /** Remembers the data as they are now; the returned function gives them back to the server. */
  mark(): () => void
  /** The server's process is another one: nodes that look see that it may have lost data. */
  restart(): void
  /** Broken invariants, cheap enough for each call. */
  violations(): Promise<readonly string[]>
  /** All that is left in structures that are empty once all jobs have ended, and wrong counts of connected workers. */
  leftovers(workers: NodeWorkers): Promise<readonly string[]>
  /** Jobs that stand in a queue or are running. */
  unfinished(): Promise<readonly string[]>
  /** All jobs and where they stand, as text; absent where that takes a call. */
  state?(): string
  close(): Promise<void>
}

/** A world's store in memory. */
export function memorySimStore(timeline: Timeline, settings: Settings): SimStore {
  const { throttles, homes } = settings
  const clock = { nowMs: () => timeline.nowMs, advance: () => Promise.resolve() }
  const names = new LaneNames(homes)
  const world = new MemoryStoreWorld(clock, { names, throttles, reserveForSeconds })
  const nodes = new Map<string, ReturnType<typeof world.join>>()
  const inputOf = (lane: string, id: number): Promise<string> =>
    Promise.resolve(world.lane(lane).job(id, world.nowMs())?.input.toString() ?? '')
  const native: SimNative = Object.assign(world.native, { inputOf })
  return {
    native,
    nowMs: () => world.nowMs(),
    stepClock: (ms) => world.stepClock(ms),
    join: (name) => {
      const node = world.join(name)
      nodes.set(name, node)
      return Promise.resolve(node)
    },
    crash: (name) => nodes.get(name)?.crash(),
    mark: () => {
      const data = world.copyData()
      return () => world.returnTo(data)
    },
    restart: () => world.nextEpoch(),
    violations: async () => {
      const leased = [...world.lanes]
        .filter(({ lane }) => resizeLanes.includes(lane))
        .flatMap(({ lane, busy }) => [...busy.keys()].map((id) => `${lane}:${id}`))
      const inTurns = [...world.lanes]
        .filter(({ lane }) => turnLanes.includes(lane))
        .flatMap((lane) =>
          [...lane.busy.keys()].map(
            (id) => `${lane.lane} ${lane.job(id, world.nowMs())?.terms?.turn ?? ''}`,
          ),
        )
      return [
        ...(await world.violations()),
        ...excessOf(settings, leased),
        ...turnExcessOf(settings, inTurns),
      ]
    },
    leftovers: (workers) => {
      const counts = new Map([...world.lanes].map((lane) => [lane.lane, lane.workers] as const))
      return Promise.resolve([...leftoversOf(world), ...miscountsOf(counts, workers)])
    },
    unfinished: () => {
      const found: string[] = []
      for (const lane of world.lanes) {
        for (const job of lane.all()) {
          // A foreground job that nobody waits for goes with the next claim of its lane.
          const isAbandoned = job.foreground && job.waiting.length === 0
          if (job.status === 'busy' || (job.status === 'idle' && !isAbandoned))
            found.push(`${lane.lane}:${job.id} ${job.status} (${job.input.toString()})`)
        }
      }
      return Promise.resolve(found)
    },
    state: () => [...world.lanes].map(stateOf).join(' '),
    close: () => world.close(),
  }
}

/** Each job that came stands somewhere or has ended, by the lane's own counters. Those of native clients are counted late. */
function misbalanceOf(lane: ReturnType<MemoryStoreWorld['lane']>): string | undefined {
  const jobs = [...lane.all()]
  if (jobs.some(({ door }) => door === 'native')) return undefined
  const { submitted, completed, failed, lost, expired, cancelled, deleted } = lane.counters
  const standing =
    jobs.filter(({ status }) => status === 'idle' || status === 'busy').length + lane.dead.length
  const known = standing + completed + failed + lost + expired + cancelled + deleted
  return known === submitted
    ? undefined
    : `${lane.lane}: ${submitted} jobs came, and ${known} are accounted for`
}

function leftoversOf(world: Pick<MemoryStoreWorld, 'lanes' | 'holders'>): string[] {
  const found: string[] = []
  for (const lane of world.lanes) {
    const problem = misbalanceOf(lane)
    if (problem !== undefined) found.push(problem)
  }
  for (const { lane, unique, jids, busy, scheduled, dead } of world.lanes) {
    // Dead jobs keep their names: they may be queued again.
    const named = [...unique.values(), ...jids.values()].filter((id) => !dead.includes(id))
    const left = new Set([...named, ...busy.keys(), ...scheduled.keys()])
    if (left.size > 0) found.push(`${lane}: structures still have ${[...left].join(', ')}`)
  }
  for (const [holder, { leases }] of world.holders) {
    if (leases.size > 0) found.push(`holder ${holder} still has ${[...leases.keys()].join(', ')}`)
  }
  return found
}

/** Workers that the store counts in a lane and that are not there, and nodes whose workers it counts in none. */
export function miscountsOf(
  lanes: ReadonlyMap<string, NodeWorkers>,
  workers: NodeWorkers,
): readonly string[] {
  const found: string[] = []
  const known = new Set<string>()
  for (const [lane, nodes] of lanes) {
    for (const [node, counted] of nodes) {
      if (counted.named > 0) known.add(node)
      const actual = workers.get(node) ?? { named: 0, consumers: 0 }
      for (const kind of ['named', 'consumers'] as const) {
        if (counted[kind] <= actual[kind]) continue
        found.push(`${lane}: counts ${counted[kind]} ${kind} of ${node}, which has ${actual[kind]}`)
      }
    }
  }
  for (const [node, { named }] of workers)
    if (named > 0 && !known.has(node)) found.push(`no lane counts the ${named} workers of ${node}`)
  return found
}

function stateOf(lane: ReturnType<MemoryStoreWorld['lane']>): string {
  const jobs = [...lane.all()].map(({ id, status, token }) => `${id} ${status} ${token ?? ''}`)
  const places = [
    ...bands.map((band) => lane.queues[band]),
    lane.scheduled.keys(),
    lane.busy.keys(),
    lane.dead,
  ]
  return JSON.stringify([lane.lane, jobs, places.map((ids) => [...ids])])
}
