import { inTurn, settled, withServers, type RowGroup } from '../bench.ts'
import { atMost } from '../report/figures.ts'
import { percentilesOf } from './latency.ts'

const targetMs = atMost(1.2)

/** Latency with thousands of workers sleeping on the function, against a gateway without any. */
export const idleWorkers: RowGroup = {
  name: 'idle-workers',
  async measure(bench) {
    const { idleWorkers: idle, latencyJobs: jobs } = bench.scale
    const start = bench.startGateway
    const [without = [], crowded = []] = await withServers([start, start], (servers) =>
      inTurn(bench, servers, { jobsPerTurn: jobs }, async (driver, server) => {
        const crowd = server === servers[1] ? idle : 0
        const measured = await driver.run('foreground', { jobs, window: 1, idle: crowd })
        // The departure of thousands of workers takes time, which the other's turn must not pay
        // for.
        await settled(server)
        return measured
      }),
    )
    return [
      {
        name: `p50 at window 1 with ${idle.toLocaleString('en-US')} idle workers`,
        unit: 'us',
        ours: percentilesOf(crowded, 50),
        against: { name: 'without', samples: percentilesOf(without, 50) },
        target: targetMs,
      },
    ]
  },
}
