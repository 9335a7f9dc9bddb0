import { dropScenarios } from './drops.ts'
import { failoverScenarios } from './failover.ts'
import { gatewayScenarios } from './gateways.ts'
import { linkScenarios } from './links.ts'
import { powerScenarios } from './power.ts'
import type { Scenario } from './scenario.ts'
import { serverScenarios } from './servers.ts'
import { upgradeScenarios } from './upgrade.ts'
import { workerScenarios } from './workers.ts'

/** Every scenario, in the order in which they run. */
export const scenarios: readonly Scenario[] = [
  ...gatewayScenarios,
  ...dropScenarios,
  ...upgradeScenarios,
  ...workerScenarios,
  ...serverScenarios,
  ...powerScenarios,
  ...linkScenarios,
  ...failoverScenarios,
]
