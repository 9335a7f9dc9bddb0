import type { FaultTable } from '../planted-fault.ts'

export const faults: FaultTable = {
  'bound-of-each-step': {
    promise: 'A bound of waiting jobs counts those of one step too.',
    file: 'packages/redis-store/lua/lib/step/admission.lua',
    from: 'if sums.waiting + queued + inTurns >= most',
    to: 'if sums.waiting >= most',
    test: 'packages/redis-store/test/store-contract.test.ts',
    testName: 'are refused from the bound on, within one step too',
  },
  'refused-before-counted': {
    promise: 'A gateway that has just started refuses no job for want of workers.',
    file: 'packages/core-scheduler/src/intake/route-admission.ts',
    from: 'this.#countsSinceMs > beforeMs',
    to: 'this.#countsSinceMs > Infinity',
    test: 'packages/redis-store/test/scheduler/routes.test.ts',
    testName: 'refuses none before the workers of a gateway that starts are counted',
  },
  'aged-job-is-dropped': {
    promise: 'A background job that is too old is among the dead, unless its route says otherwise.',
    file: 'packages/redis-store/lua/lib/stale.lua',
    from: "if fields.dies_stale ~= '1' or",
    to: "if fields.dies_stale ~= '0' or",
    test: 'packages/redis-store/test/store-contract.test.ts',
    testName: 'are among the dead when a worker would get them, and can run again',
  },
  'untimed-by-name-worker': {
    promise: 'The time of a job holds for workers by name too.',
    file: 'packages/redis-store/lua/lib/step/leases.lua',
    from: "if job.timed == '1' and claim.isNamed then",
    to: "if job.timed == '0' and claim.isNamed then",
    test: 'packages/redis-store/test/store-contract.test.ts',
    testName: 'are late at a by-name worker too',
  },
}
