import type { PlantedFault } from '../planted-fault.ts'

export const faults: readonly PlantedFault[] = [
  {
    name: 'dead-worker-without-failure',
    promise: 'A background job whose last Faktory worker died goes to the dead set.',
    file: 'packages/core-scheduler/src/maintenance/lease-holders.ts',
    from: '...retryPolicy.ofLoss() }',
    to: '...retryPolicy.ofLoss(), failure: undefined as never }',
    test: 'packages/store-testkit/test/scheduler/dead-workers.test.ts',
  },
]
