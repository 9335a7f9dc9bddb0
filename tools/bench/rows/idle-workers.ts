import { inTurn, settled, withServers, type RowGroup } from '../bench.ts'
import { atMost } from '../figures.ts'
import { percentilesOf } from './latency.ts'

const targetMs = atMost(1.2)

/** Latency where thousands of workers sleep on the function, against a gateway where none does. */
export const idleWorkers: RowGroup = {
  name: 'idle-workers',
  async measure(bench) {
    const { idleWorkers: idle, latencyJobs: jobs } = bench.scale
    const start = bench.startGateway
    const [without = [], crowded = []] = await withServers([start, start], (servers) =>
      inTurn(bench, servers, { jobsPerTurn: jobs }, async (driver, server) => {
        const crowd = server === servers[1] ? idle : 0
        const measured = await driver.run('foreground', { jobs, window: 1, idle: crowd })
        // Thousands of workers that leave are work; the other's turn must not pay for it.
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
