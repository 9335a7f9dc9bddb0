import type { LaneRegistry } from './lane-registry.ts'
import type { ClaimBy } from './job.ts'
import type { LaneAccess, LaneGroup } from '../store/ports.ts'
import type { FunctionOrder } from '../scheduler-options.ts'

/** One function that a worker named, with the time it allows itself for a job. */
export interface Ability {
  /** A function, or one lane of it (`mail@bulk`). */
  readonly fn: string
  /** Milliseconds until the job is taken back; absent: never while the worker is connected. */
  readonly leaseMs?: number
}

/**
 * The lanes that a worker may get jobs of, in its order. Sessions with equal `key` share a claim.
 */
export interface Subscription {
  readonly by: ClaimBy
  /** Which lanes it takes from. */
  readonly access: LaneAccess
  readonly key: string
  /** The keys under which an idle worker of this subscription is found, see {@link idleKeysOf}. */
  readonly idleKeys: readonly string[]
  /**
   * True if a job may be prefetched for it: its lease lasts as long as the node lives, so no time
   * is lost.
   */
  readonly mayWait: boolean
  /** The highest level of all groups comes first: see {@link ClaimRequest.byLevel}. */
  readonly byLevel?: boolean
  groups(registry: LaneRegistry): readonly LaneGroup[]
}

/** The subscription of a worker that named functions, the one to try first at the front. */
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
 * The subscription of a Faktory consumer in queues, left to right. `functions`, if given, are those that it named: it gets
 * these alone, whichever lanes are open. Without them `access` says.
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
    mayWait: false,
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

/** The idle keys under which workers for a lane's jobs sleep. */
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
