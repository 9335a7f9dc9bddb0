import { inTurn, settled, withServers, type Bench, type RowGroup } from '../bench.ts'
import { atLeast, atMost, type Figure, figureOf } from '../report/figures.ts'
import type { Driver } from '../load-generator.ts'
import { residentBytes, sumOver } from '../processes.ts'
import { rewritten, type Gateway } from '../servers.ts'

const megabyte = 1e6
const ownPace = atLeast(0.9)
const gatewayMemory = atMost(150)
const bytesPerJob = atMost(400)

interface Held {
  readonly gatewayMegabytes: number
  readonly redisBytesPerJob: number
}

/** Submits the jobs; returns what the gateway and Redis need while they wait. */
async function fill(
  driver: Driver,
  gateway: Gateway,
  { jobs, unique }: { readonly jobs: number; readonly unique: boolean },
): Promise<Held> {
  const before = await usedMemory(gateway)
  await driver.run('submit', { jobs, unique })
  await rewritten(gateway)
  await settled(gateway)
  return {
    gatewayMegabytes: sumOver(gateway.ownPids, residentBytes) / megabyte,
    redisBytesPerJob: ((await usedMemory(gateway)) - before) / jobs,
  }
}

async function usedMemory({ redis }: Gateway): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.ask('INFO', 'memory'))?.[1])
}

function memoryFigures(held: Held, what: string, target?: Figure['target']): readonly Figure[] {
  return [
    {
      name: `gateway while ${what} wait`,
      unit: 'MB',
      ours: [held.gatewayMegabytes],
      target: gatewayMemory,
    },
    {
      name: `Redis for each of ${what}`,
      unit: 'B',
      ours: [held.redisBytesPerJob],
      ...(target && { target }),
    },
  ]
}

/** The memory of waiting jobs. */
export const memory: RowGroup = {
  name: 'memory',
  async measure({ generator, scale, startGateway }) {
    const held = await withServers([startGateway], async ([gateway]) => {
      const driver = generator.drive(gateway!, scale.queued)
      const result = await fill(driver, gateway!, { jobs: scale.queued, unique: false })
      await driver.stop()
      return result
    })
    return memoryFigures(held, `${scale.queued.toLocaleString('en-US')} jobs of 100 B`, bytesPerJob)
  },
}

/**
 * Submission and drain behind a long queue, against a gateway with an empty queue; then the queue
 * itself.
 */
export const queued: RowGroup = {
  name: 'queued',
  async measure(bench) {
    return withServers([bench.startGateway, bench.startGateway], (gateways) =>
      behindQueue(bench, gateways),
    )
  },
}

async function behindQueue(bench: Bench, gateways: readonly Gateway[]): Promise<readonly Figure[]> {
  const { queued: waiting, jobs: all } = bench.scale
  const jobs = all / 2
  const long = gateways[1]!
  const what = `${waiting.toLocaleString('en-US')} jobs with unique ids`
  let held: Held | undefined
  const turns = {
    jobsPerTurn: jobs,
    preparedJobs: waiting,
    prepare: async (driver: Driver, server: object): Promise<void> => {
      if (server === long) held = await fill(driver, long, { jobs: waiting, unique: true })
    },
    finish: async (driver: Driver, server: object): Promise<void> => {
      if (server === long) await driver.run('drain', { jobs: waiting, unique: true })
    },
  }
  const [empty = [], full = []] = await inTurn(bench, gateways, turns, async (driver) => {
    const submit = await driver.run('submit', { jobs, unique: true })
    const drain = await driver.run('drain', { jobs, unique: true })
    return { submit: jobs / submit.seconds, drain: jobs / drain.seconds }
  })
  const rates = (['submit', 'drain'] as const).map((step) => {
    const about = { name: `${step} behind ${what}`, unit: 'jobs/s', target: ownPace } as const
    return figureOf(about, step, full, { name: 'empty queue', turns: empty })
  })
  return [...rates, ...(held === undefined ? [] : memoryFigures(held, what))]
}
