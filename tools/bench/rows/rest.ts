import { setTimeout as delay } from 'node:timers/promises'
import { oneJobEach } from '../../testing/one-job-each.ts'
import { settled, withServers, type RowGroup } from '../bench.ts'
import { atMost, below, type Figure, figureOf, type Target } from '../report/figures.ts'
import { storeCommands } from '../report/store-commands.ts'
import { cpuSeconds, sumOver } from '../processes.ts'
import { advisedRedis, serving, startGateway, startGatewayAt, type Gateway } from '../servers.ts'
import { freePort } from '../../testing/free-port.ts'

const restingWorkers = 1000
const waitingFunctions = [0, 2_000, 20_000]
const maxFunctions = ['--max-new-functions-per-address', '30000']
const msPerSecond = 1000
const commandsTarget = atMost(100)
const storeTarget = atMost(0.5)

/** One idle stretch. */
interface Rest {
  /** Of the store, in a second. */
  readonly commands: number
  /** Processor time in percent of one core. */
  readonly gateway: number
  readonly store: number
}

/** The cost of an idle gateway: with a waiting job in each of many functions, and with idle workers. */
export const rest: RowGroup = {
  name: 'rest',
  async measure({ generator, scale }) {
    const { rounds, restSeconds } = scale
    const figures: Figure[] = []
    for (const functions of waitingFunctions) {
      const start = () => startGateway({ words: maxFunctions })
      const rests = await withServers([start], async ([gateway]) => {
        await oneJobEach(gateway!.port, functions)
        await settled(gateway!)
        return restsOf(gateway!, rounds, restSeconds)
      })
      const count = functions.toLocaleString('en-US')
      figures.push(...figuresOf(`a waiting job in each of ${count} functions`, rests))
    }
    const rests = await withServers([() => startGateway()], async ([gateway]) => {
      const driver = generator.drive(gateway!, 1)
      const measured = await driver.withIdleWorkers(restingWorkers, async () => {
        await settled(gateway!)
        return restsOf(gateway!, rounds, restSeconds)
      })
      await driver.stop()
      return measured
    })
    const workers = `${restingWorkers.toLocaleString('en-US')} idle workers`
    return [...figures, ...figuresOf(workers, rests, below(2))]
  },
}

function figuresOf(load: string, rests: readonly Rest[], target?: Target): readonly Figure[] {
  const rows = [
    ['commands to Redis', 'commands/s', 'commands', commandsTarget],
    ['processor time of the gateway', '%', 'gateway', target],
    ['processor time of Redis', '%', 'store', storeTarget],
  ] as const
  return rows.map(([words, unit, key, target]) =>
    figureOf({ name: `${words} at rest, ${load}`, unit, target }, key, rests),
  )
}

async function restsOf(gateway: Gateway, rounds: number, seconds: number): Promise<Rest[]> {
  const rests: Rest[] = []
  for (let round = 0; round < rounds; round++) rests.push(await restOf(gateway, seconds))
  return rests
}

async function restOf({ ownPids, redis, client }: Gateway, seconds: number): Promise<Rest> {
  const look = async () => ({
    commands: storeCommands(await client.info('commandstats')),
    gateway: sumOver(ownPids, cpuSeconds),
    store: cpuSeconds(redis.pid),
    atMs: performance.now(),
  })
  const before = await look()
  await delay(seconds * msPerSecond)
  const after = await look()
  const elapsed = (after.atMs - before.atMs) / msPerSecond
  const perSecond = (name: keyof Rest): number => (after[name] - before[name]) / elapsed
  return {
    // Without the look itself.
    commands: perSecond('commands') - 1 / elapsed,
    gateway: perSecond('gateway') * 100,
    store: perSecond('store') * 100,
  }
}

/** From the start of the process, with a running Redis, to the first answer. */
export const start: RowGroup = {
  name: 'start',
  async measure({ scale }) {
    const samples: number[] = []
    const redis = await advisedRedis()
    try {
      for (let round = 0; round < scale.rounds; round++) {
        const port = await freePort()
        const before = performance.now()
        const running = startGatewayAt(redis.path, { gearman: port })
        samples.push(((await serving(port)) - before) / msPerSecond)
        await running.stop()
      }
    } finally {
      await redis.stop()
    }
    return [{ name: 'start to serving', unit: 's', ours: samples, target: below(1.5) }]
  },
}
