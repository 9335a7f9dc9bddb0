import { nowMs } from '../log/clock.ts'
import type { Gateway } from '../world/gateway.ts'
import type { Stage } from '../stage.ts'
import type { Scenario } from './scenario.ts'

/** Ends a gateway at once and starts it again; the time until it serves counts from its start. */
async function killAndRestart(stage: Stage, gateway: Gateway): Promise<void> {
  stage.gatewayDeaths += 1
  await stage.fault('gateway killed', gateway.node, async () => {
    await gateway.process.kill()
    const startedMs = nowMs()
    await gateway.start()
    await stage.recovered(gateway, startedMs)
  })
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
]
