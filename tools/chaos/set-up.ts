import type { Way } from './peers/doors.ts'
import { lockedLane, narrowLane, tickLane, type DoorName } from './peers/tasks.ts'
import type { Random } from '@crossgear/tools/random'
import type { Scenario } from './scenarios/scenario.ts'
import { nowMs } from './log/clock.ts'
import { Stage } from './stage.ts'
import { Gateway } from './world/gateway.ts'
import { ticks, writeConfig } from './world/gateway-config.ts'
import { startClient, startWorker } from './world/peers.ts'
import { Proxy } from './world/proxy.ts'
import { openStoreWorld, type Servers } from './world/stores.ts'

const doors: readonly DoorName[] = ['gearman', 'faktory', 'native']
/** A function on its home queue per kind of name, and one on a queue of its own. */
const lanes: readonly string[] = ['alpha', 'beta', 'gamma@bulk']
/** A throttle and cron are matters of the gateways, and only Faktory jobs of equal arguments have names of their own. */
const lanesOf: Readonly<Record<DoorName, readonly string[]>> = {
  gearman: [...lanes, narrowLane, tickLane],
  faktory: [...lanes, lockedLane, narrowLane, tickLane],
  native: lanes,
}
/** Every lane of a scenario. */
export const allLanes = [...lanes, lockedLane, narrowLane, tickLane]
const concurrency: Readonly<Record<DoorName, number>> = { gearman: 4, faktory: 4, native: 16 }
const workMs = 8
const defaultRate = 1_500

/** Starts the servers of a scenario, and all programs on them. */
export async function setUp(
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
    '--repair',
    'on',
    '--repair-lease-seconds',
    '5',
    '--job-retries',
    losses,
    '--config',
    writeConfig(folder, ticks(folder)),
  ]
  const names = ['node1', 'node2'].slice(0, scenario.gateways ?? 2)
  const program = scenario.program?.()
  const startedMs = nowMs()
  const gateways = await Promise.all(
    names.map((name) =>
      Gateway.start({
        name,
        folder,
        storeUrl,
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
      ...common,
      door,
      workMs,
      concurrency: concurrency[door],
      name: `worker-${door}-1`,
      lanes: lanesOf[door],
      seed: random.whole(1, 2 ** 30),
    }),
  )
  await Promise.all(workers.map((worker) => worker.begun))
  const ratePerSecond = scenario.ratePerSecond ?? defaultRate
  const clients = doors.map((door) =>
    startClient(folder, {
      ...common,
      door,
      name: `client-${door}`,
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

/** Jobs held at a time; a native worker has its number per function. */
export function slotsOf(subject: string): number {
  const slots = { ...concurrency, native: concurrency.native * lanes.length }
  const door = /^worker-(\w+)-/.exec(subject)?.[1]
  if (door) return slots[door as DoorName]
  return subject === 'store' ? slots.gearman + slots.faktory + slots.native : slots.gearman
}
