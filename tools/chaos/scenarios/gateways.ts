import { setTimeout as delay } from 'node:timers/promises'
import { lacksCompiler } from '@crossgear/tools/preload-library'
import { nowMs } from '../log/clock.ts'
import type { Gateway } from '../world/gateway.ts'
import type { Stage } from '../stage.ts'
import { lastingThrough, type Scenario } from './scenario.ts'

/** Makes a gateway's date jump at each SIGUSR2. */
const clockModule = new URL('../world/jumping-clock.ts', import.meta.url).href
/** Time for a stopping gateway to end its jobs. */
const drainWithinMs = 15_000

/** Kills a gateway and restarts it; recovery counts from its restart. */
export async function killAndRestart(stage: Stage, gateway: Gateway): Promise<void> {
  stage.gatewayDeaths += 1
  await stage.fault('gateway killed', gateway.node, () => gateway.process.kill())
  await restart(stage, gateway)
}

/** A gateway that is asked to stop ends its running jobs: none may be done twice. */
export async function drainAndRestart(stage: Stage, gateway: Gateway): Promise<void> {
  stage.gatewayDeaths += 1
  stage.remark(`${gateway.node} is told to stop`)
  gateway.process.terminate()
  if (!(await gateway.process.endedWithin(drainWithinMs))) {
    stage.problems.push(`${gateway.node} did not stop when told`)
  }
  await restart(stage, gateway)
}

async function restart(stage: Stage, gateway: Gateway): Promise<void> {
  const startedMs = nowMs()
  await gateway.start()
  await stage.recovered(gateway, startedMs)
}

function frozen(seconds: number): Scenario {
  return {
    name: `gateway-frozen-${seconds}`,
    about: `one gateway of two is stopped with SIGSTOP for ${seconds} s`,
    ...lastingThrough(seconds),
    async play(stage) {
      await stage.share(0.25)
      const gateway = stage.gateways[0]!
      await stage.fault('gateway frozen', gateway.node, async () => {
        gateway.process.freeze()
        await delay(seconds * 1000)
        gateway.process.thaw()
        await stage.recovered(gateway, nowMs())
      })
    },
  }
}

/** Gateways that die. */
export const gatewayScenarios: readonly Scenario[] = [
  {
    name: 'gateway-killed',
    about: 'the only gateway is killed and started again, twice',
    gateways: 1,
    recoverWithinSeconds: 3,
    async play(stage) {
      for (const part of [0.25, 0.6]) {
        await stage.share(part)
        await killAndRestart(stage, stage.gateways[0]!)
      }
    },
  },
  {
    name: 'one-of-two-gateways-killed',
    about: 'one gateway of two is killed and started again, then the other',
    quick: true,
    recoverWithinSeconds: 3,
    async play(stage) {
      await stage.share(0.25)
      await killAndRestart(stage, stage.gateways[0]!)
      await stage.share(0.6)
      await killAndRestart(stage, stage.gateways[1]!)
    },
  },
  {
    name: 'cluster-gateways-killed',
    about:
      'one gateway of two on a cluster is killed and started again, then the other; workers are killed',
    store: 'cluster',
    recoverWithinSeconds: 5,
    ratePerSecond: 300,
    jobShare: 0.25,
    settleWithinSeconds: 90,
    async play(stage) {
      for (const [at, gateway] of stage.gateways.entries()) {
        await stage.share(0.2 + at * 0.35)
        await killAndRestart(stage, gateway)
        await stage.share(0.4 + at * 0.35)
        await stage.killWorker(stage.random.pick(stage.workers))
      }
    },
  },
  {
    name: 'rolling-restart',
    about: 'one gateway after the other is told to stop, and started again',
    quick: true,
    recoverWithinSeconds: 3,
    async play(stage) {
      for (const [at, gateway] of stage.gateways.entries()) {
        await stage.share(0.25 + at * 0.35)
        await drainAndRestart(stage, gateway)
      }
    },
  },
  frozen(5),
  frozen(20),
  frozen(70),
  {
    name: 'clock-steps',
    about: 'the date of one gateway jumps by an hour, that of the server by 20 s, ahead and back',
    nodeWords: ['--import', import.meta.resolve('tsx'), '--import', clockModule],
    clockSteps: true,
    lacks: lacksCompiler ? 'a C compiler (cc)' : undefined,
    async play(stage) {
      const jumping = [stage.gateways[0]!.process.pid, stage.servers[0]!.pid]
      for (const part of [0.2, 0.35, 0.5]) {
        for (const [at, pid] of jumping.entries()) {
          await stage.share(part + at * 0.07)
          stage.remark(`the clock of ${at === 0 ? 'a gateway' : 'the server'} jumps`)
          process.kill(pid, 'SIGUSR2')
        }
      }
    },
  },
]
