import { inTurn, withServers, type RowGroup } from '../bench.ts'
import { atLeast, type Figure } from '../report/figures.ts'
import { startGearmand } from '../servers.ts'

const connectionCount = 10
const steps = [
  { mode: 'push', words: 'PUSH', target: atLeast(1) },
  { mode: 'work', words: 'FETCH and ACK', target: atLeast(0.4) },
  { mode: 'cycle', words: 'PUSH, FETCH and ACK in turn', target: atLeast(0.5) },
] as const

type Rates = Readonly<Record<(typeof steps)[number]['mode'], number>>

/** Faktory's verbs, one in progress per connection, against gearmand with foreground jobs. */
export const faktory: RowGroup = {
  name: 'faktory',
  async measure(bench) {
    const jobs = bench.scale.jobs / 2
    const connections = { clients: connectionCount, workers: connectionCount }
    const [theirs = [], ours = []] = await withServers(
      [startGearmand, bench.startGateway],
      (servers) =>
        inTurn(
          bench,
          servers,
          { jobsPerTurn: 2 * jobs },
          async (driver, server): Promise<Rates> => {
            if (server === servers[0]) {
              const { seconds } = await driver.run('foreground', { jobs })
              const rate = jobs / seconds
              return { push: rate, work: rate, cycle: rate }
            }
            const push = await driver.run('push', { jobs, ...connections })
            const work = await driver.run('work', { jobs, ...connections })
            const cycle = await driver.run('cycle', { jobs, ...connections })
            return {
              push: jobs / push.seconds,
              work: jobs / work.seconds,
              cycle: jobs / cycle.seconds,
            }
          },
        ),
    )
    return steps.map(({ mode, words, target }): Figure => ({
      name: `Faktory ${words}, ${connectionCount} connections`,
      unit: 'jobs/s',
      ours: ours.map((turn) => turn[mode]),
      against: { name: 'gearmand foreground', samples: theirs.map((turn) => turn[mode]) },
      target,
    }))
  },
}

/** Gearman clients with Faktory consumers, against Gearman workers at the same gateway. */
export const bridge: RowGroup = {
  name: 'bridge',
  async measure(bench) {
    const jobs = bench.scale.jobs / 2
    const turns = await withServers([bench.startGateway], (servers) =>
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
        target: atLeast(0.4),
      },
    ]
  },
}
