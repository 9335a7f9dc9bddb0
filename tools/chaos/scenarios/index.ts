import { gatewayScenarios } from './gateways.ts'
import type { Scenario } from './scenario.ts'

/** Every scenario, in the order in which they run. */
export const scenarios: readonly Scenario[] = [...gatewayScenarios]
