import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster, Redis } from 'ioredis'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import { check } from './check/check.ts'
import { compareFigures } from './check/figures.ts'
import { owedCallbacks } from './check/terms.ts'
import { violationsOf, type Verdict } from './check/verdict.ts'
import { nowMs } from './log/clock.ts'
import type { Way } from './peers/doors.ts'
import { lockedLane, narrowLane, tickLane, type DoorName } from './peers/tasks.ts'
import { Random } from '@crossgear/tools/random'
import type { Scenario } from './scenarios/scenario.ts'
import { Stage } from './stage.ts'
import { Gateway } from './world/gateway.ts'
import { expireLeases, retryNow } from './world/fast-forward.ts'
import { startClient, startWorker } from './world/peers.ts'
import { Proxy } from './world/proxy.ts'
import { StoreView } from './world/store-view.ts'
import { openStoreWorld, type Servers } from './world/stores.ts'
import { ticks, writeConfig } from './world/gateway-config.ts'

export interface ScenarioResult {
  readonly scenario: Scenario
  readonly jobs: number
  readonly seconds: number
  readonly recoverySeconds: number | undefined
  readonly verdict: Verdict | undefined
  /** Empty if every promise was kept. */
  readonly violations: readonly string[]
  /** Remarks beside the table. */
  readonly remarks: readonly string[]
}

const doors: readonly DoorName[] = ['gearman', 'faktory', 'native']
/** A function on its home queue per kind of name, and one on a queue of its own. */
const lanes: readonly string[] = ['alpha', 'beta', 'gamma@bulk']
/** A throttle and cron are matters of the gateways, and only Faktory jobs of equal arguments have names of their own. */
const lanesOf: Readonly<Record<DoorName, readonly string[]>> = {
  gearman: [...lanes, narrowLane, tickLane],
  faktory: [...lanes, lockedLane, narrowLane, tickLane],
  native: lanes,
}
const allLanes = [...lanes, lockedLane, narrowLane, tickLane]
const concurrency: Readonly<Record<DoorName, number>> = { gearman: 4, faktory: 4, native: 16 }
const workMs = 8
const defaultRate = 1_500
const lookEveryMs = 250
/** After this long without progress, the rest waits for a dead worker's deadline. */
const quietMs = 3_000
/** On an idle machine, as the time above: deadlines are brought near before. */
const noProgressMs = 30_000
const stopWithinMs = 20_000
/** Gateways notice late that a native worker has ended the last job of a batch. */
const callbacksWithinMs = 20_000
/** Counts follow a moment after a worker leaves; a repair takes two of its leases. */
const clearedWithinMs = 15_000
/** Counters follow the store a moment later. */
const countedWithinMs = 2_000
/** Factor by which a recovery may exceed its promise before the run fails, on an idle machine. */
const recoverySlack = 3

/** Plays one scenario and judges it. Its logs stay in `folder`. */
export async function runScenario(
  scenario: Scenario,
  options: { readonly folder: string; readonly seed: number; readonly jobs: number },
): Promise<ScenarioResult> {
  const sinceMs = nowMs()
  const jobs = Math.ceil(options.jobs * (scenario.jobShare ?? 1))
  const folder = join(options.folder, scenario.name)
  mkdirSync(folder, { recursive: true })
  const stage = await setUp(scenario, folder, jobs, new Random(options.seed))
  try {
    const verdict = await playAndJudge(scenario, stage)
    const recoverySeconds = stage.recoverySeconds
    const slow = (scenario.recoverWithinSeconds ?? Infinity) * recoverySlack * stage.slowness
    const violations = [
      ...violationsOf(verdict),
      ...stage.problems,
      ...((recoverySeconds ?? 0) > slow
        ? [`served again after more than ${slow.toFixed(1)} s`]
        : []),
    ]
    const seconds = (nowMs() - sinceMs) / 1000
    const { remarks } = stage
    return { scenario, jobs, seconds, recoverySeconds, verdict, violations, remarks }
  } finally {
    await stage.clear()
  }
}

/** Jobs held at a time; a native worker has its number per function. */
function slotsOf(subject: string): number {
  const slots = { ...concurrency, native: concurrency.native * lanes.length }
  const door = /^worker-(\w+)-/.exec(subject)?.[1]
  if (door) return slots[door as DoorName]
  return subject === 'store' ? slots.gearman + slots.faktory + slots.native : slots.gearman
}

async function setUp(
  scenario: Scenario,
  folder: string,
  jobs: number,
  random: Random,
): Promise<Stage> {
  const world = await openStoreWorld(scenario, folder)
  try {
    return await populate(scenario, folder, jobs, random, world)
  } catch (error) {
    await world.store.stop()
    throw error
  }
}

/** Starts all programs on the servers. */
async function populate(
  scenario: Scenario,
  folder: string,
  jobs: number,
  random: Random,
  { store, servers }: Servers,
): Promise<Stage> {
  const storeProxy = scenario.proxies ? await Proxy.start(servers[0]!.port) : undefined
  const storeUrl = storeProxy ? `redis://127.0.0.1:${storeProxy.port}` : store.gatewayUrl
  const losses = String(scenario.maxLosses ?? 0)
  // The gateways repair dead native programs' orphans only on request.
  const words = [
    ...['--repair', 'on', '--repair-lease-seconds', '5', '--job-retries', losses],
    ...['--config', writeConfig(folder, ticks(folder))],
  ]
  const names = ['node1', 'node2'].slice(0, scenario.gateways ?? 2)
  const program = scenario.program?.()
  const startedMs = nowMs()
  const gateways = await Promise.all(
    names.map((name) =>
      Gateway.start({
        ...{ name, folder, storeUrl },
        words: [...words, ...(scenario.gatewayWords ?? [])],
        nodeWords: scenario.nodeWords ?? [],
        ...(program && { program }),
      }),
    ),
  )
  const startSeconds = (nowMs() - startedMs) / 1000
  const peerProxies = new Map<string, Proxy[]>()
  const ways: Way[] = []
  for (const { node, gearman, faktory } of gateways) {
    if (scenario.proxies) {
      const [before, beside] = [await Proxy.start(gearman), await Proxy.start(faktory)]
      peerProxies.set(node, [before, beside])
      ways.push({ node, gearman: before.port, faktory: beside.port })
    } else ways.push({ node, gearman, faktory })
  }
  const common = { ways, store: store.native, lanes }
  const workers = doors.map((door) =>
    startWorker(folder, {
      ...{ ...common, door, workMs, concurrency: concurrency[door], name: `worker-${door}-1` },
      lanes: lanesOf[door],
      seed: random.whole(1, 2 ** 30),
    }),
  )
  await Promise.all(workers.map((worker) => worker.begun))
  const ratePerSecond = scenario.ratePerSecond ?? defaultRate
  const clients = doors.map((door) =>
    startClient(folder, {
      ...{ ...common, door, name: `client-${door}` },
      ratePerSecond: ratePerSecond / doors.length,
      jobs: Math.ceil(jobs / doors.length),
      foregroundPercent: door === 'gearman' ? 20 : 2,
      scheduledPercent: 5,
      seed: random.whole(1, 2 ** 30),
    }),
  )
  await Promise.all(clients.map((client) => client.begun))
  const links = { peers: peerProxies, store: storeProxy }
  const world = { store, servers, gateways, clients, workers, links, startSeconds }
  return new Stage({ folder, random, jobs, ratePerSecond, ...world })
}

async function playAndJudge(scenario: Scenario, stage: Stage): Promise<Verdict> {
  await scenario.play(stage)
  // Cron is over: nothing may be left of its jobs.
  writeConfig(stage.folder)
  await Promise.all(stage.gateways.map((gateway) => gateway.reload()))
  const redis = stage.store.connect()
  try {
    if (!(await submitted(stage, redis))) {
      stage.problems.push('the clients did not come to their end')
    }
    const view = new StoreView(redis, allLanes)
    await settle(stage, view, redis, (scenario.settleWithinSeconds ?? 60) * 1000)
    const figures = await figuresThatDiffer(scenario, stage)
    await stage.stopWorkers()
    await Promise.all(stage.clients.map((client) => client.stop()))
    await cleared(view, stage.nativeDeaths)
    const verdict = check({
      history: stage.history(),
      snapshot: await view.snapshot(stage.nativeDeaths),
      faults: stage.faults,
      slowness: stage.slowness,
      slots: slotsOf,
      invariants: await checkInvariants(redis, { native: true, strays: true }),
      figures,
      maxLosses: scenario.maxLosses ?? 0,
      ...(scenario.unstored && { unstored: scenario.unstored }),
    })
    await stopGateways(stage)
    return verdict
  } finally {
    redis.disconnect()
  }
}

/** Counters that contradict the logs, after the last answers have been counted. */
async function figuresThatDiffer(scenario: Scenario, stage: Stage): Promise<readonly string[]> {
  // A gateway that died has lost its own.
  if (stage.gatewayDeaths > 0) return []
  const { faults, probes, slowness } = stage
  const counted = { history: stage.history(), faults, probes, slowness }
  const { maxLosses = 0 } = scenario
  const untilMs = nowMs() + countedWithinMs
  for (;;) {
    const figures = new Map<string, number>()
    for (const gateway of stage.gateways) {
      for (const [name, figure] of await gateway.countersByDoor()) {
        figures.set(name, (figures.get(name) ?? 0) + figure)
      }
    }
    const found = compareFigures(figures, { ...counted, maxLosses })
    if (found.length === 0 || nowMs() > untilMs) return found
    await delay(lookEveryMs)
  }
}

/** Waits for the clients to end while they make progress. */
async function submitted(stage: Stage, redis: Redis | Cluster): Promise<boolean> {
  const done = stage.clientsDone().then(() => true)
  const patience = new Patience(stage, redis)
  while (patience.quietMs < noProgressMs * stage.slowness) {
    if (await Promise.race([done, delay(lookEveryMs, false)])) return true
    await patience.saw(stage.acknowledged)
  }
  return false
}

/** Waits until nothing is left to do. */
async function settle(
  stage: Stage,
  view: StoreView,
  redis: Redis | Cluster,
  withinMs: number,
): Promise<void> {
  const untilMs = nowMs() + withinMs
  const patience = new Patience(stage, redis)
  while (nowMs() < untilMs) {
    const left = await view.unfinished()
    const owed = left === 0 && (await view.unplaced()) === 0 ? owedCallbacks(stage.history()) : -1
    if (owed === 0 || (owed > 0 && patience.quietMs > callbacksWithinMs)) return
    await patience.saw(left + Math.max(0, owed))
    await delay(lookEveryMs)
  }
}

/** Watches a figure. When it stands still, far deadlines are brought near. */
class Patience {
  readonly #stage: Stage
  readonly #redis: Redis | Cluster
  #figure = -1
  #movedMs = nowMs()
  #fastForwardedMs = nowMs()

  constructor(stage: Stage, redis: Redis | Cluster) {
    this.#stage = stage
    this.#redis = redis
  }

  get quietMs(): number {
    return nowMs() - this.#movedMs
  }

  async saw(figure: number): Promise<void> {
    if (figure !== this.#figure) {
      this.#figure = figure
      this.#movedMs = this.#fastForwardedMs = nowMs()
    }
    if (nowMs() - this.#fastForwardedMs < quietMs * this.#stage.slowness) return
    const fromMs = nowMs()
    const many = await expireLeases(this.#redis, allLanes)
    // A merely slow worker loses its job by this.
    const fault = { what: `${many} leases run out`, subject: 'store', fromMs }
    if (many > 0) this.#stage.note({ ...fault, toMs: nowMs() })
    await delay(lookEveryMs * 6)
    await retryNow(this.#stage.gateways[0]!.faktory).catch(() => undefined)
    this.#fastForwardedMs = nowMs()
  }
}

/** Gateways store their worker counts a moment after workers leave. */
async function cleared(view: StoreView, nativeDeaths: number): Promise<void> {
  const untilMs = nowMs() + clearedWithinMs
  while (nowMs() < untilMs && (await view.leftovers(nativeDeaths)).length > 0) {
    await delay(lookEveryMs)
  }
}

async function stopGateways(stage: Stage): Promise<void> {
  await Promise.all(
    stage.gateways.map(async ({ node, process }) => {
      process.terminate()
      if (!(await process.endedWithin(stopWithinMs))) stage.problems.push(`${node} did not stop`)
    }),
  )
}
