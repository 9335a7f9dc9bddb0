import { nowMs } from '../log/clock.ts'
import type { Stage } from '../stage.ts'
import type { Scenario } from './scenario.ts'

/** Replication is not waited for: what the master has just acknowledged may not have left it. */
const replicationLagMs = 200

async function failOver(stage: Stage): Promise<void> {
  await stage.share(0.25)
  let comeBack: (() => Promise<void>) | undefined
  await stage.fault('failover', 'store', async () => {
    const fromMs = nowMs()
    comeBack = await stage.store.failover?.()
    stage.remark('there is another master')
    await Promise.all(stage.gateways.map((gateway) => stage.recovered(gateway, fromMs)))
  })
  await stage.share(0.75)
  await comeBack?.()
  stage.remark('the old master is a replica')
}

const common = {
  recoverWithinSeconds: 30,
  ratePerSecond: 300,
  jobShare: 0.25,
  unstored: { withinMs: replicationLagMs },
  play: failOver,
} as const

/** Servers that others take the place of. */
export const failoverScenarios: readonly Scenario[] = [
  {
    name: 'sentinel-failover',
    about:
      'the master is stopped with SIGSTOP, a replica takes its place, and it comes back as one',
    store: 'sentinel',
    ...common,
  },
  {
    name: 'sentinel-failover-replicas',
    about: 'the same where gateways wait for a replica before they acknowledge',
    store: 'sentinel',
    ...common,
    gatewayWords: ['--durability', 'replicas:1'],
    // Programs that know Redis alone do not wait.
    unstored: { withinMs: replicationLagMs, of: 'client-native' },
  },
  {
    name: 'cluster-failover',
    about: 'a master of three is killed, its replica takes its place, and it comes back as one',
    store: 'cluster',
    ...common,
  },
]
