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
const lossKinds = ['store restarts with a loss', 'store fails over'] as const

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
  'store clock step',
  'store restarts',
] as const

export const faultKinds = [...otherFaultKinds, ...lossKinds] as const
export type FaultKind = (typeof faultKinds)[number]

export interface FaultPlan {
  readonly number: number
  readonly kind: FaultKind
  readonly atMs: number
  readonly forMs: number
}

export const changeKinds = ['join', 'leave', 'reload'] as const
export type ChangeKind = (typeof changeKinds)[number]

/** A change of gateways or settings, which is no fault. */
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

/** The part of a plan that has a random source of its own. */
const moreMask = 0x5bd1_e995

export function planOf(seed: number): Plan {
  const random = new Random(seed)
  const more = new Random((seed ^ moreMask) >>> 0)
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
    const maxMs = random.pick([300, 2_000, kind === 'freeze' ? 12_000 : 6_000])
    return { number: at + 1, kind, atMs: random.whole(50, wildMs), forMs: random.whole(50, maxMs) }
  }
  const faults = Array.from({ length: count }, (_none, at) => fault(at, otherFaultKinds))
  if (random.percent(10)) faults.push(fault(count, lossKinds))
  const changes = Array.from({ length: more.percent(25) ? more.whole(1, 2) : 0 }, (_none, at) => {
    return {
      number: at + 1,
      kind: more.pick(changeKinds),
      atMs: more.whole(50, wildMs),
      forMs: more.whole(50, 2_000),
    }
  })
  return {
    ...{ seed, peers, faults, wildMs },
    gateways: random.whole(1, 3),
    hasThrottles: random.percent(25),
    hasRoutes: more.percent(25),
    changes,
    hasCron: random.percent(15),
    functionOrder: random.percent(30) ? 'by-level' : 'in-order',
  }
}
