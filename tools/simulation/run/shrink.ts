import type { FaultPlan, PeerPlan, Plan } from '../world/plan.ts'

/** Worlds that are played for one plan at most. */
const maxTries = 250
/** Words that tell problems of one kind from others. */
const kindWords = 6

/** A smaller plan with the same kind of problem. */
export interface Shrunk {
  readonly plan: Plan
  readonly problems: readonly string[]
  /** Worlds that were played for it. */
  readonly tries: number
}

/** The first words of a problem, without names and numbers. */
export function kindOf(problem: string): string {
  const words = problem.replaceAll(/\S*\d\S*/g, '#').replaceAll(/#( #)+/g, '#')
  return words.split(/\s+/).slice(0, kindWords).join(' ')
}

/** Drops and halves parts of the plan as long as the problem stays. */
export async function shrink(
  plan: Plan,
  problems: readonly string[],
  play: (plan: Plan) => Promise<readonly string[]>,
): Promise<Shrunk> {
  const kind = kindOf(problems[0] ?? '')
  let best: Omit<Shrunk, 'tries'> = { plan, problems }
  let tries = 0
  let isSmaller = true
  while (isSmaller) {
    isSmaller = false
    for (const smaller of smallerThan(best.plan)) {
      if (tries === maxTries) return { ...best, tries }
      tries += 1
      const found = await play(smaller)
      if (!found.some((problem) => kindOf(problem) === kind)) continue
      best = { plan: smaller, problems: found }
      isSmaller = true
      break
    }
  }
  return { ...best, tries }
}

/** Plans with one thing less, big steps first. */
function* smallerThan(plan: Plan): Iterable<Plan> {
  const { peers, faults, gateways, wildMs } = plan
  if (faults.length > 1) yield { ...plan, faults: [] }
  for (const peer of peers) yield { ...plan, peers: peers.filter((other) => other !== peer) }
  for (const fault of faults) yield { ...plan, faults: faults.filter((other) => other !== fault) }
  for (const change of plan.changes)
    yield { ...plan, changes: plan.changes.filter((other) => other !== change) }
  if (plan.hasRoutes) yield { ...plan, hasRoutes: false }
  if (plan.hasCron) yield { ...plan, hasCron: false }
  if (plan.waitsForReplica) yield { ...plan, waitsForReplica: false }
  if (plan.hasThrottles) yield { ...plan, hasThrottles: false }
  if (plan.functionOrder !== 'in-order') yield { ...plan, functionOrder: 'in-order' }
  if (gateways > 1) yield { ...plan, gateways: gateways - 1 }
  for (const peer of peers) {
    for (const jobs of [Math.floor(peer.jobs / 2), peer.jobs - 1]) {
      if (jobs > 0) yield { ...plan, peers: replaced<PeerPlan>(peers, peer, { ...peer, jobs }) }
    }
  }
  for (const fault of faults) {
    const forMs = Math.floor(fault.forMs / 2)
    if (forMs >= 10)
      yield { ...plan, faults: replaced<FaultPlan>(faults, fault, { ...fault, forMs }) }
  }
  const lastMs = Math.max(200, ...faults.map(({ atMs }) => atMs))
  if (wildMs / 2 > lastMs) yield { ...plan, wildMs: Math.floor(wildMs / 2) }
}

const replaced = <One>(all: readonly One[], old: One, by: One): readonly One[] =>
  all.map((one) => (one === old ? by : one))
