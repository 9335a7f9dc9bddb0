import type { LaneRegistry } from './lane-registry.ts'
import type { ClaimBy } from './job.ts'
import type { LaneAccess, LaneGroup } from '../store/claim-ports.ts'

/** A function that a worker named, and its time for a job. */
export interface Ability {
  /** A function, or one lane of it (`mail@bulk`). */
  readonly fn: string
  /** Milliseconds until the job is taken back; absent: as long as the worker is connected. */
  readonly leaseMs?: number
}

/**
 * The lanes that a worker may get jobs of, in its order. Sessions with equal `key` share a claim.
 */
export interface Subscription {
  readonly by: ClaimBy
  /** Lanes that it may take from. */
  readonly access: LaneAccess
  readonly key: string
  /** Keys of an idle worker with this subscription, see {@link idleKeysOf}. */
  readonly idleKeys: readonly string[]
  /** True if a job may be prefetched for it: the job's time does not begin before its worker asks. */
  readonly mayWait: boolean
  /** Of a consumer of several queues: each alone, in its order. Jobs are prefetched by queue. */
  readonly byQueue?: readonly Subscription[]
  /** Highest level of all groups first: see {@link ClaimRequest.byLevel}. */
  readonly byLevel?: boolean
  groups(registry: LaneRegistry): readonly LaneGroup[]
}

/**
 * Order in which a worker gets jobs of its functions: function by function as named, or highest
 * level first.
 */
export type FunctionOrder = 'in-order' | 'by-level'

/** The subscription of a worker that named functions, in the order to try them. */
export function namedSubscription(
  abilities: readonly Ability[],
  registry: LaneRegistry,
  order: FunctionOrder = 'in-order',
): Subscription {
  const { names } = registry
  const wanted = abilities.map((ability) => {
    const lane = names.canonical(ability.fn)
    return { ...ability, lane, single: lane !== names.parse(lane).fn }
  })
  return {
    by: 'named',
    access: 'any',
    key: `n${JSON.stringify(wanted.map(({ lane, leaseMs }) => [lane, leaseMs ?? 0]))}`,
    mayWait: wanted.every(({ leaseMs }) => leaseMs === undefined),
    byLevel: order === 'by-level',
    idleKeys: wanted.map(({ lane, single }) => (single ? `l${lane}` : `f${lane}`)),
    groups: cached(registry, () =>
      wanted.map(({ lane, single, leaseMs }) => ({
        lanes: single ? [lane] : homeFirst(lane, registry.ofFunction(lane)),
        ...(leaseMs === undefined ? {} : { leaseMs }),
      })),
    ),
  }
}

/**
 * The subscription of a Faktory consumer to queues, left to right. With `functions`, named by the
 * consumer, it gets these alone, in any lane. Otherwise `access` decides.
 */
export function consumerSubscription(
  queues: readonly string[],
  registry: LaneRegistry,
  functions?: ReadonlySet<string>,
  access: LaneAccess = 'auto',
): Subscription {
  return {
    by: 'consumer',
    access: functions ? 'any' : access,
    key: `c${JSON.stringify([queues, functions ? [...functions].sort() : null])}`,
    mayWait: true,
    ...(queues.length > 1 && {
      byQueue: queues.map((queue) => consumerSubscription([queue], registry, functions, access)),
    }),
    idleKeys: queues.map((queue) => `q${queue}`),
    groups: cached(registry, () =>
      queues.map((queue) => {
        const lanes = registry.ofQueue(queue)
        if (!functions) return { queue, lanes }
        return { lanes: lanes.filter((lane) => functions.has(registry.names.parse(lane).fn)) }
      }),
    ),
  }
}

/** The keys of idle workers for a lane's jobs. */
export interface IdleKeys {
  readonly byName: readonly string[]
  readonly byQueue: string
}

export function idleKeysOf(lane: string, registry: LaneRegistry): IdleKeys {
  const { fn, queue } = registry.names.parse(lane)
  return { byName: [`f${fn}`, `l${lane}`], byQueue: `q${queue}` }
}

function homeFirst(home: string, lanes: readonly string[]): readonly string[] {
  return lanes.includes(home) ? lanes : [home, ...lanes]
}

/** Groups change only when lanes are added. */
function cached(registry: LaneRegistry, make: () => LaneGroup[]): () => readonly LaneGroup[] {
  let version = -1
  let groups: readonly LaneGroup[] = []
  return () => {
    if (version !== registry.version) {
      version = registry.version
      groups = make()
    }
    return groups
  }
}
