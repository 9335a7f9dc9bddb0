import { bundleWords } from '@crossgear/tools/gateway-program'
import { formerCommit, formerGateway } from '../world/former-release.ts'
import { drainAndRestart } from './gateways.ts'
import type { Scenario } from './scenario.ts'

const commit = formerCommit()

/** Other versions of the gateway. */
export const upgradeScenarios: readonly Scenario[] = [
  {
    name: 'upgrade',
    about: `gateways are rolled from ${commit?.slice(0, 12) ?? 'a former commit'} to this one and back`,
    // Four starts of a gateway one after the other, all of them while jobs flow.
    waits: true,
    jobShare: 0.25,
    ratePerSecond: 60,
    recoverWithinSeconds: 3,
    lacks: commit === undefined ? 'a former commit to upgrade from' : undefined,
    program: () => formerGateway(commit ?? ''),
    async play(stage) {
      const former = formerGateway(commit ?? '')
      for (const [turn, program] of [bundleWords(), former].entries()) {
        for (const [at, gateway] of stage.gateways.entries()) {
          await stage.share(0.15 + turn * 0.4 + at * 0.2)
          gateway.program = program
          stage.remark(`${gateway.node} becomes ${program.at(-1)}`)
          await drainAndRestart(stage, gateway)
        }
      }
    },
  },
]
