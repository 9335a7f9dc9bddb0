import { waitFor } from '@crossgear/tools/wait-for'
import { nowMs } from '../log/clock.ts'
import type { Stage } from '../stage.ts'
import type { Scenario } from './scenario.ts'

/** When one is killed, as shares of the jobs. */
const kills = [0.1, 0.3, 0.5, 0.7]

/** Kills one process of a gateway, and waits until it was replaced and the gateway serves. */
async function killProcess(stage: Stage): Promise<void> {
  const gateway = stage.gateways[0]!
  const victim = stage.random.pick(gateway.processes())
  stage.gatewayDeaths += 1
  await stage.fault('process killed', gateway.node, async () => {
    const fromMs = nowMs()
    process.kill(victim, 'SIGKILL')
    await stage.recovered(gateway, fromMs)
    const isBack = async () => !gateway.processes().includes(victim)
    await waitFor('a process takes the place of the one that was killed', isBack)
  })
}

/** Processes of one gateway that die. */
export const processScenarios: readonly Scenario[] = [
  {
    name: 'processes-killed',
    about: `one process of two of the only gateway is killed, ${kills.length} times, whichever`,
    quick: true,
    waits: true,
    gateways: 1,
    gatewayWords: ['--processes', '2'],
    recoverWithinSeconds: 3,
    ratePerSecond: 500,
    async play(stage) {
      for (const part of kills) {
        await stage.share(part)
        await killProcess(stage)
      }
    },
  },
]
