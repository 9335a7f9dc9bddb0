import type { PlantedFault } from '../planted-fault.ts'

export const faults: readonly PlantedFault[] = [
  {
    name: 'budget-keeps-answered-bytes',
    promise: 'Bytes of answered requests leave the budget of their door.',
    file: 'apps/gateway/src/net/connection.ts',
    from: 'this.#inputBudget?.wait(cost - this.#waitingCost)',
    to: 'this.#inputBudget?.wait(0)',
    test: 'apps/gateway/test/net/connection.test.ts',
  },
  {
    name: 'budget-keeps-bytes-of-closed-connections',
    promise: 'Bytes of unanswered requests leave the budget with their connection.',
    file: 'apps/gateway/src/net/connection.ts',
    from: 'this.#inputBudget?.wait(-this.#waitingCost)',
    to: 'this.#inputBudget?.wait(0)',
    test: 'apps/gateway/test/net/connection.test.ts',
  },
]
