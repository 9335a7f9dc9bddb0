import type { PlantedFault } from '../planted-fault.ts'

/** Faults of what a gateway knows of its store: which server and data it has, and if it is there. */
export const faults: readonly PlantedFault[] = [
  {
    name: 'sentinels-unheard',
    promise: 'a planned failover loses no acknowledged job',
    file: 'packages/redis-store/src/redis-store.ts',
    from: 'this.#sentinels?.open()',
    to: '',
    test: 'apps/gateway/test/store-trouble/planned-failover.test.ts',
  },
  {
    name: 'former-master-taken-again',
    promise: 'a connection does not go back to the master that is being replaced',
    file: 'packages/redis-store/src/connection/store-epoch.ts',
    from: 'this.#former = this.#history',
    to: '',
    test: 'packages/redis-store/test/connection/sentinels.test.ts',
    testName: 'no call goes to a master that is being replaced',
  },
  {
    name: 'refused-by-former-master',
    promise: 'a call that a former master refuses is sent again',
    file: 'packages/redis-store/src/connection/redis-context.ts',
    from: '!isAgain && this.epoch.isDemoted(refusal)',
    to: 'isAgain && this.epoch.isDemoted(refusal)',
    test: 'packages/redis-store/test/connection/sentinels.test.ts',
    testName: 'a call that a former master refuses is sent again, to the next one',
  },
  {
    name: 'lost-ids-given-again',
    promise: 'the handle of a lost job is never given again',
    file: 'packages/redis-store/lua/lib/step/submissions.lua',
    from: 'tonumber(last or 0)) * 1048576',
    to: 'tonumber(last or 0)) * 0',
    test: 'apps/gateway/test/store-trouble/older-data.test.ts',
    testName: 'gives no handle again, neither of a function that it knew nor of a lost one',
  },
  {
    name: 'other-data-unnoticed',
    promise: 'what a node keeps of the store is asked again when the store has other data',
    file: 'packages/redis-store/src/nodes/node-steps.ts',
    from: 'wasReset: isNew === 1 || isReplaced',
    to: 'wasReset: isNew === 1',
    test: 'apps/gateway/test/store-trouble/older-data.test.ts',
    testName: 'gives consumers what is pushed to a function that only the lost data had as theirs',
  },
  {
    name: 'open-lanes-forgotten',
    promise: 'lanes of Faktory producers are open again after a FLUSHALL',
    file: 'apps/gateway/src/faktory/faktory-door.ts',
    from: 'this.#scheduler.onStoreReset(() => this.#lanes.openAgain()),',
    to: '',
    test: 'apps/gateway/test/store-trouble/older-data.test.ts',
    testName: 'opens functions again without a further push, also after a FLUSHALL by hand',
  },
]
