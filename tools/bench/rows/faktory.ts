import { costOf, inTurn, withGearmand, withServers, type RowGroup } from '../bench.ts'
import type { Driver } from '../load-generator.ts'
import { atMost, type Cost, costFigures, type Figure, figureOf } from '../report/figures.ts'
import { startGateway, type Server } from '../servers.ts'

const connectionCount = 10
const queueCounts = [1, 5] as const
const steps = [
  { mode: 'push', words: 'PUSH', targets: {} },
  { mode: 'work', words: 'FETCH and ACK', targets: {} },
  { mode: 'cycle', words: 'PUSH, FETCH and ACK in turn', targets: { microseconds: atMost(3.8) } },
] as const
/** As many producers, and as many consumers, as in the load test of the Faktory server. */
const apartConnections = 5
const apartQueues = 5

type Step = (typeof steps)[number]['mode']

/** Faktory's verbs, one in progress per connection, against gearmand with foreground jobs. */
export const faktory: RowGroup = {
  name: 'faktory',
  async measure(bench) {
    const jobs = bench.scale.jobs / 5
    const turns = { jobsPerTurn: 2 * queueCounts.length * jobs }
    const [theirs = [], ours = []] = await withGearmand(bench, turns, async (driver, server) =>
      server.name === 'gearmand'
        ? { foreground: await costOf(driver, server, 'foreground', { jobs }), queues: [] }
        : { foreground: undefined, queues: await costsOf(driver, server, jobs) },
    )
    const against = {
      name: 'gearmand foreground',
      turns: theirs.flatMap(({ foreground }) => foreground ?? []),
    }
    return queueCounts.flatMap((count, at) =>
      steps.flatMap(({ mode, words, targets }): readonly Figure[] => {
        const name = `Faktory ${words}, ${connectionCount} connections${count > 1 ? `, ${count} queues` : ''}`
        const costs = ours.map(({ queues }) => queues[at]![mode])
        return costFigures(name, costs, against, targets)
      }),
    )
  },
}

/**
 * The load test of the Faktory server: producers push to any of five queues, other connections fetch
 * from all five, each in an order of its own, and acknowledge; one job in a hundred fails.
 */
export const faktoryLoad: RowGroup = {
  name: 'faktory-load',
  async measure(bench) {
    const jobs = (bench.scale.jobs * 3) / 10
    const connections = { clients: apartConnections, workers: apartConnections }
    const turns = { jobsPerTurn: jobs }
    const [theirs = [], ours = []] = await withGearmand(bench, turns, (driver, server) =>
      server.name === 'gearmand'
        ? costOf(driver, server, 'foreground', { jobs })
        : costOf(driver, server, 'apart', { jobs, queues: apartQueues, ...connections }),
    )
    const name = `Faktory load test, ${apartConnections} producers, ${apartConnections} consumers, ${apartQueues} queues`
    const spent = `${name}: processor time, Redis included`
    return [
      figureOf({ name, unit: 'jobs/s' }, 'rate', ours),
      figureOf({ name: spent, unit: 'us/job', target: atMost(4.5) }, 'microseconds', ours, {
        name: 'gearmand foreground',
        turns: theirs,
      }),
    ]
  },
}

async function costsOf(driver: Driver, server: Server, jobs: number) {
  const costs: Record<Step, Cost>[] = []
  for (const queues of queueCounts) {
    const phase = { jobs, queues, clients: connectionCount, workers: connectionCount }
    costs.push({
      push: await costOf(driver, server, 'push', phase),
      work: await costOf(driver, server, 'work', phase),
      cycle: await costOf(driver, server, 'cycle', phase),
    })
  }
  return costs
}

/** Gearman clients with Faktory consumers, against Gearman workers at the same gateway. */
export const bridge: RowGroup = {
  name: 'bridge',
  async measure(bench) {
    const jobs = bench.scale.jobs / 2
    const turns = await withServers([startGateway], (servers) =>
      inTurn(bench, servers, { jobsPerTurn: 2 * jobs }, async (driver) => {
        const gearman = await driver.run('foreground', { jobs })
        // A function of its own: consumers only get functions without by-name workers.
        const words = { jobs, workers: connectionCount, function: 'bridged' }
        const bridged = await driver.run('bridge', words)
        return { gearman: jobs / gearman.seconds, bridged: jobs / bridged.seconds }
      }),
    )
    const [rounds = []] = turns
    return [
      {
        name: `Gearman client to Faktory worker, ${connectionCount} connections`,
        unit: 'jobs/s',
        ours: rounds.map((turn) => turn.bridged),
        against: { name: 'Gearman worker', samples: rounds.map((turn) => turn.gearman) },
      },
    ]
  },
}
