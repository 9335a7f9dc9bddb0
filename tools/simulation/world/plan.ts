import { Random } from '@crossgear/tools/random'

export const peerKinds = [
  'gearman client',
  'gearman worker',
  'faktory producer',
  'faktory consumer',
  'native client',
  'native worker',
  'operator',
] as const
export type PeerKind = (typeof peerKinds)[number]

export interface PeerPlan {
  readonly name: string
  readonly kind: PeerKind
  /** Jobs to submit, or acts of an operator. */
  readonly jobs: number
}

/** The store loses writes that it has acknowledged. */
export const lossKinds = ['store restarts with a loss', 'store fails over'] as const

const otherFaultKinds = [
  'crash',
  'freeze',
  'stop',
  'cut link',
  'breaks often',
  'late calls',
  'lose messages',
  'store away',
  'store stands still',
  'store restarts',
] as const

export const faultKinds = [...otherFaultKinds, ...lossKinds] as const
export type FaultKind = (typeof faultKinds)[number]

/** Most time of faults that are to last long, milliseconds: a node counts as dead, and workers hear that their outcomes are refused. */
const longestMs: Readonly<Partial<Record<FaultKind, number>>> = {
  freeze: 12_000,
  'store away': 9_000,
}

export interface FaultPlan {
  readonly number: number
  readonly kind: FaultKind
  readonly atMs: number
  readonly forMs: number
}

const gatewayChanges = ['join', 'leave', 'reload'] as const
export const changeKinds = [...gatewayChanges, 'clock step'] as const
export type ChangeKind = (typeof changeKinds)[number]

/** A change of gateways, of settings or of the store's clock, which is no fault. */
export interface ChangePlan {
  readonly number: number
  readonly kind: ChangeKind
  readonly atMs: number
  readonly forMs: number
}

/** All that a seed decides before the world begins. A part of it is a smaller world. */
export interface Plan {
  readonly seed: number
  readonly gateways: number
  readonly peers: readonly PeerPlan[]
  readonly faults: readonly FaultPlan[]
  readonly changes: readonly ChangePlan[]
  readonly hasThrottles: boolean
  /** Routes have retries and a retention. */
  readonly hasRoutes: boolean
  readonly hasCron: boolean
  /** Gateways acknowledge what the replica has, which takes the master's place at a failover. */
  readonly waitsForReplica: boolean
  readonly functionOrder: 'in-order' | 'by-level'
  /** Time for new jobs and faults, milliseconds. */
  readonly wildMs: number
}

const names: Readonly<Record<PeerKind, string>> = {
  'gearman client': 'client',
  'gearman worker': 'worker',
  'faktory producer': 'producer',
  'faktory consumer': 'consumer',
  'native client': 'native',
  'native worker': 'nativeworker',
  operator: 'operator',
}

/** Parts of a plan that have a random source of their own. */
const moreMask = 0x5bd1_e995
const stepsMask = 0x27d4_eb2f

export function planOf(seed: number): Plan {
  const random = new Random(seed)
  const more = new Random((seed ^ moreMask) >>> 0)
  const steps = new Random((seed ^ stepsMask) >>> 0)
  const wildMs = random.whole(1_500, 5_000)
  const peers: PeerPlan[] = []
  const add = (kind: PeerKind, count: number, jobs = 0): void => {
    for (let one = 0; one < count; one += 1) {
      const ofKind = peers.filter((peer) => peer.kind === kind).length
      peers.push({ name: `${names[kind]}${ofKind + 1}`, kind, jobs })
    }
  }
  add('gearman client', random.whole(0, 3), random.whole(1, 6))
  add('faktory producer', random.whole(peers.length === 0 ? 1 : 0, 2), random.whole(1, 6))
  add('gearman worker', random.whole(0, 3))
  add('faktory consumer', random.whole(0, 3))
  if (random.percent(25)) add('native client', 1, random.whole(1, 4))
  if (random.percent(20)) add('native worker', 1)
  if (random.percent(15)) add('operator', 1, random.whole(1, 3))
  else if (more.percent(20)) add('operator', more.whole(1, 2), more.whole(1, 6))
  const count = random.percent(15) ? 0 : random.whole(1, 4)
  const fault = (at: number, kinds: readonly FaultKind[]): FaultPlan => {
    const kind = random.pick(kinds)
    const maxMs = random.pick([300, 2_000, longestMs[kind] ?? 6_000])
    return { number: at + 1, kind, atMs: random.whole(50, wildMs), forMs: random.whole(50, maxMs) }
  }
  const faults = Array.from({ length: count }, (_none, at) => fault(at, otherFaultKinds))
  if (random.percent(10)) faults.push(fault(count, lossKinds))
  const changes: ChangePlan[] = []
  const change = (kind: ChangeKind, atMs: number, forMs: number): void => {
    changes.push({ number: changes.length + 1, kind, atMs, forMs })
  }
  for (let left = more.percent(25) ? more.whole(1, 2) : 0; left > 0; left -= 1)
    change(more.pick(gatewayChanges), more.whole(50, wildMs), more.whole(50, 2_000))
  for (let left = steps.percent(60) ? steps.whole(3, 8) : 0; left > 0; left -= 1)
    change('clock step', steps.whole(50, wildMs), 0)
  return {
    seed,
    peers,
    faults,
    wildMs,
    gateways: random.whole(1, 3),
    hasThrottles: random.percent(25),
    hasRoutes: more.percent(25),
    changes,
    hasCron: random.percent(15),
    waitsForReplica: steps.percent(faults.some(({ kind }) => kind === 'store fails over') ? 60 : 5),
    functionOrder: random.percent(30) ? 'by-level' : 'in-order',
  }
}
