import { nowMs } from '../log/clock.ts'
import type { Scenario } from './scenario.ts'
import { acknowledgedJustBefore } from './servers.ts'

/** Servers that others take the place of. */
export const failoverScenarios: readonly Scenario[] = [
  {
    name: 'sentinel-failover',
    about:
      'the master stands still, Sentinels make its replica the master, and it comes back as a replica',
    store: 'sentinel',
    recoverWithinSeconds: 30,
    ratePerSecond: 500,
    jobShare: 0.5,
    // Replication is not waited for: what the master had just acknowledged may not have left it.
    mayLose: acknowledgedJustBefore,
    async play(stage) {
      await stage.share(0.25)
      const { store } = stage
      await stage.fault('failover', 'store', async () => {
        const fromMs = nowMs()
        const comeBack = await store.failover!()
        await Promise.all(stage.gateways.map((gateway) => stage.recovered(gateway, fromMs)))
        await comeBack()
      })
    },
  },
]
