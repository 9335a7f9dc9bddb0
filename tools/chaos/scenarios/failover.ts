import { nowMs } from '../log/clock.ts'
import type { Stage } from '../stage.ts'
import type { Scenario } from './scenario.ts'

/** Without waiting for replication, a fresh acknowledgement may not have left the master. */
const replicationLagMs = 200
/** Behind Sentinels gateways wait for the replicas. Programs that know only Redis do not. */
const unstoredBehindSentinels = { withinMs: replicationLagMs, of: 'client-native' }

/** Sentinels make a replica of a former master within this time, milliseconds. */
const switchedWithinMs = 15_000

async function failOver(stage: Stage): Promise<void> {
  await stage.share(0.25)
  let comeBack: (() => Promise<void>) | undefined
  let anotherSinceMs = 0
  await stage.fault('failover', 'store', async () => {
    const fromMs = nowMs()
    comeBack = await stage.store.failover?.()
    anotherSinceMs = nowMs()
    stage.remark('there is another master')
    await Promise.all(stage.gateways.map((gateway) => stage.recovered(gateway, fromMs)))
  })
  await stage.share(0.75)
  await comeBack?.()
  stage.remark('the old master is a replica')
  noteLateWorkers(stage, anotherSinceMs)
}

/** The old master is healthy, and takes itself for the master until the Sentinels tell it otherwise. */
async function switchOver(stage: Stage): Promise<void> {
  await stage.share(0.25)
  let anotherSinceMs = 0
  const act = async (): Promise<void> => {
    const fromMs = nowMs()
    const isOver = await stage.store.switchOver?.()
    anotherSinceMs = nowMs()
    stage.remark('there is another master')
    await Promise.all(stage.gateways.map((gateway) => stage.recovered(gateway, fromMs)))
    await isOver?.()
  }
  // Native workers run jobs of the old master until it is a replica: each second is a blow.
  await stage.fault('planned failover', 'store', act, switchedWithinMs / 1000)
  stage.remark('the old master is a replica')
  await stage.share(0.75)
  noteLateWorkers(stage, anotherSinceMs)
}

/**
 * A native worker has several connections. While one of them is at the old master, a repair may
 * requeue what it took over another: for it the failover lasts until it begins jobs again.
 */
function noteLateWorkers(stage: Stage, fromMs: number): void {
  const { runs } = stage.history()
  for (const { name } of stage.workersOf('native')) {
    const begun = runs.filter(({ worker, startMs }) => worker === name && startMs >= fromMs)
    const toMs = Math.min(nowMs(), ...begun.map(({ startMs }) => startMs))
    stage.note({ what: 'late to the new master', subject: name, fromMs, toMs })
  }
}

const common = {
  recoverWithinSeconds: 30,
  ratePerSecond: 300,
  jobShare: 0.25,
  unstored: { withinMs: replicationLagMs },
  play: failOver,
} as const

/** Servers that others replace. */
export const failoverScenarios: readonly Scenario[] = [
  {
    name: 'sentinel-failover',
    about:
      'the master is stopped with SIGSTOP, a replica takes its place, and it comes back as one',
    store: 'sentinel',
    ...common,
    unstored: unstoredBehindSentinels,
  },
  {
    name: 'sentinel-failover-replicas',
    about: 'the same where gateways refuse jobs that no replica has',
    store: 'sentinel',
    ...common,
    gatewayWords: ['--durability', 'replicas:1'],
    unstored: unstoredBehindSentinels,
  },
  {
    name: 'sentinel-switch',
    about: 'an operator has a replica promoted beside a healthy master, which becomes one later',
    store: 'sentinel',
    ...common,
    recoverWithinSeconds: 3,
    play: switchOver,
    // Native programs go on until the old master ends their connections.
    unstored: { ...unstoredBehindSentinels, nativeToldWithinMs: switchedWithinMs },
  },
  {
    name: 'cluster-failover',
    about: 'a master of three is killed, its replica takes its place, and it comes back as one',
    store: 'cluster',
    ...common,
  },
]
