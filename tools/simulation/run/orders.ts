import { createHash } from 'node:crypto'
import type { FaultKind, Plan } from '../world/plan.ts'
import type { Chooser, Event } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import type { OpenStore } from '../world/sim-store.ts'

/** Events so close together come in any order, milliseconds: as late as a message may be. */
const windowMs = 4
/** Deeper choices are not noted: a minute never comes as far. */
const maxDepth = 40
/** Seeds that are tried for a tiny world. */
const maxSeeds = 5_000

/** Figures of a walk so far. */
export interface OrdersSeen {
  readonly plan: Plan
  /** All orders of so many choices were walked. */
  readonly depth: number
  readonly runs: number
  /** Runs that were given up, as all they could do is equal to another run. */
  readonly redundant: number
  /** Distinct states: what the store has, and for whom events are pending. */
  readonly states: number
  /** The first order that broke a promise. */
  readonly failure?: {
    readonly choices: readonly number[]
    readonly problems: readonly string[]
    readonly story: readonly string[]
  }
}

/** A run that is equal to one that was walked before. */
class Redundant extends Error {}

/** Takes the choices of a list, then the first of each; notes how many there were. */
class ChoiceList implements Chooser {
  readonly windowMs = windowMs
  readonly fromMs: number
  readonly widths: number[] = []
  readonly #list: readonly number[]
  readonly #states: Set<string>
  readonly #stateOf: () => string
  /** Walked first elsewhere: equal until an event comes whose order with them counts. */
  #asleep: readonly Event[] = []

  constructor(fromMs: number, list: readonly number[], states: Set<string>, stateOf: () => string) {
    this.fromMs = fromMs
    this.#list = list
    this.#states = states
    this.#stateOf = stateOf
  }

  pick(events: readonly Event[]): Event {
    const awake = events.filter((event) => !this.#asleep.includes(event))
    const depth = this.widths.length
    const isChoice = awake.length > 1 && depth < maxDepth
    const at = isChoice ? (this.#list[depth] ?? 0) : 0
    const chosen = awake[at]
    if (!chosen) throw new Redundant()
    if (isChoice) {
      this.widths.push(awake.length)
      const pending = events.map(({ actor }) => actor.name).sort()
      const state = `${this.#stateOf()} ${pending.join(' ')}`
      this.#states.add(createHash('sha1').update(state).digest('base64'))
    }
    this.#asleep = [...this.#asleep, ...awake.slice(0, at)].filter(({ actor }) =>
      isApart(actor.name, chosen.actor.name),
    )
    return chosen
  }
}

/** Two processes only meet in messages, so the order of their events makes no difference. The world's hand touches all. */
const isApart = (one: string, other: string): boolean =>
  one !== other && one !== 'world' && other !== 'world'

/** Two gateways, two jobs, one fault: walks the orders of all events after the first submission, shorter lists of choices first. */
export async function walkOrders(
  fault: FaultKind,
  openStore: OpenStore,
  goesOn: (seen: OrdersSeen) => boolean,
  plan?: Plan,
): Promise<OrdersSeen> {
  const { tiny, fromMs } = await tinyWorld(fault, openStore, plan)
  const states = new Set<string>()
  /** Lists by their length: each ends with a choice that is not the first. */
  const lists: (readonly number[])[][] = [[[]]]
  let seen: OrdersSeen = { plan: tiny, depth: 0, runs: 0, redundant: 0, states: 0 }
  for (let depth = 0; depth <= maxDepth; depth += 1) {
    for (const list of lists[depth] ?? []) {
      const { widths, problems, story } = await playOrder(tiny, fromMs, openStore, list, states)
      const isRedundant = problems === undefined
      seen = {
        ...seen,
        runs: seen.runs + 1,
        redundant: seen.redundant + Number(isRedundant),
        states: states.size,
      }
      for (let at = depth; at < widths.length; at += 1) {
        const padding = Array.from({ length: at - depth }, () => 0)
        for (let choice = 1; choice < widths[at]!; choice += 1)
          (lists[at + 1] ??= []).push([...list, ...padding, choice])
      }
      if (problems?.length) return { ...seen, failure: { choices: list, problems, story } }
      if (!goesOn(seen)) return seen
    }
    lists[depth] = []
    seen = { ...seen, depth }
  }
  return seen
}

async function playOrder(
  plan: Plan,
  fromMs: number,
  openStore: OpenStore,
  list: readonly number[],
  states: Set<string>,
) {
  const story: string[] = []
  const world = new World(plan, { openStore, tell: (line) => void story.push(line) })
  const chooser = new ChoiceList(fromMs, list, states, () => world.store.state())
  world.timeline.chooser = chooser
  const { widths } = chooser
  try {
    const { problems } = await world.run()
    return { widths, problems, story }
  } catch (error) {
    if (!(error instanceof Redundant)) throw error
    return { widths, problems: undefined, story }
  } finally {
    await world.store.close()
  }
}

/** The first seed whose two jobs are submitted at nearly one time; the fault may come at any event after. */
async function tinyWorld(kind: FaultKind, openStore: OpenStore, given?: Plan) {
  for (let seed = 1; seed < maxSeeds; seed += 1) {
    const plan: Plan = given ?? {
      seed,
      gateways: 2,
      hasThrottles: false,
      hasRoutes: false,
      changes: [],
      hasCron: false,
      waitsForReplica: false,
      functionOrder: 'in-order',
      wildMs: 600,
      faults: [],
      peers: [
        { name: 'client1', kind: 'gearman client', jobs: 1 },
        { name: 'producer1', kind: 'faktory producer', jobs: 1 },
        { name: 'worker1', kind: 'gearman worker', jobs: 0 },
        { name: 'consumer1', kind: 'faktory consumer', jobs: 0 },
      ],
    }
    const world = new World(plan, { openStore })
    const { history } = await world.run()
    await world.store.close()
    const times = [...history.jobs.values()]
      .map(({ submittedMs }) => submittedMs)
      .filter((ms) => ms < history.calmFromMs)
    const fromMs = Math.min(...times)
    if (!given && (times.length !== 2 || Math.max(...times) - fromMs > windowMs)) continue
    return { tiny: { ...plan, faults: [{ number: 1, kind, atMs: fromMs, forMs: 100 }] }, fromMs }
  }
  throw new Error('no seed has two jobs at one time')
}
