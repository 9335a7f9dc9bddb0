import { FunctionTurns } from './function-turns.ts'
import type { LaneRegistry } from './lane-registry.ts'
import type { ClaimBy } from './job.ts'

/** With more functions a worker stands in a line, a search and an order of its own kind, which cost no more for more of them. */
export const fewFunctions = 8

/** Lanes that one request takes from as one line: highest level first, then the oldest job. */
export interface LaneGroup {
  readonly lanes: readonly string[]
  /** The Faktory queue of these lanes, for a consumer's request. */
  readonly queue?: string
  /** How long the worker may hold a job, milliseconds; absent: as long as it is connected. */
  readonly leaseMs?: number
}

/**
 * Lanes that a consumer takes from: `any`: of functions it named; `opened`: opened for good;
 * `auto`: also those whose function has had no by-name worker for long enough.
 */
export type LaneAccess = 'any' | 'opened' | 'auto'

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
  /** Of a consumer of several queues: the one at a place alone. Jobs are prefetched by queue. */
  readonly ofQueue?: (place: number) => Subscription
  /** Of a worker whose many functions take turns: the order to try them, by their places here. */
  readonly turns?: FunctionTurns
  /** The same without turns, which all workers with these functions share. */
  readonly base?: Subscription
  /** Highest level of all groups first: see {@link ClaimRequest.byLevel}. */
  readonly byLevel?: boolean
  /** The lanes of the subscription. A consumer's queue without lanes is left out. */
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

/** Limits of a consumer's subscription. */
export interface ConsumerLimits {
  /** Functions that it named: it gets these alone, in any lane. Otherwise `access` decides. */
  readonly functions?: ReadonlySet<string> | undefined
  /** auto. */
  readonly access?: LaneAccess
  /** Key of a subscription with so many queues that it shares no claim. One made of its queues. */
  readonly key?: string | undefined
}

/** The subscription of a Faktory consumer to queues, left to right. */
export function consumerSubscription(
  queues: readonly string[],
  registry: LaneRegistry,
  { functions, access = 'auto', key }: ConsumerLimits = {},
): Subscription {
  // The only copy of the names, which may be many and long.
  const idleKeys = queues.map((queue) => `q${queue}`)
  return {
    by: 'consumer',
    access: functions ? 'any' : access,
    key: key ?? `c${JSON.stringify([queues, functions ? [...functions].sort() : null])}`,
    mayWait: true,
    ...(idleKeys.length > 1 && { ofQueue: eachAlone(idleKeys, registry, { functions, access }) }),
    idleKeys,
    groups: cached(registry, () =>
      idleKeys.flatMap((idleKey): LaneGroup[] => {
        const queue = idleKey.slice(1)
        const lanes = registry.ofQueue(queue)
        if (lanes.length === 0) return []
        if (!functions) return [{ queue, lanes }]
        return [{ lanes: lanes.filter((lane) => functions.has(registry.names.parse(lane).fn)) }]
      }),
    ),
  }
}

/** Made when asked for: mostly the first queue's alone. */
function eachAlone(
  idleKeys: readonly string[],
  registry: LaneRegistry,
  limits: ConsumerLimits,
): (place: number) => Subscription {
  const made = new Map<number, Subscription>()
  return (place) => {
    const known = made.get(place)
    if (known) return known
    const queue = idleKeys[place]?.slice(1) ?? ''
    const alone = consumerSubscription([queue], registry, limits)
    made.set(place, alone)
    return alone
  }
}

/** The subscription of one worker whose functions take turns. Nothing is prefetched for it: the next job is another function's. */
export function inTurns(base: Subscription, key: string): Subscription {
  const turns = new FunctionTurns(base.idleKeys.length)
  return { ...base, key, turns, base, mayWait: false }
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
