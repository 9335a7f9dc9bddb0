import { afterEach, describe, expect } from 'vitest'
import { administrationContract } from './lanes/administration.ts'
import { admissionContract } from './jobs/admission.ts'
import { aheadContract } from './nodes/ahead.ts'
import { byLevelContract } from './lanes/by-level.ts'
import { deadContract } from './jobs/dead.ts'
import { onDeathContract } from './jobs/on-death.ts'
import { leftKeyContract } from './native/left-keys.ts'
import { orphanContract } from './native/orphans.ts'
import { inspectContract } from './jobs/inspect.ts'
import { auditContract } from './nodes/audit.ts'
import { historyContract } from './nodes/history.ts'
import { holderContract } from './nodes/holders.ts'
import { lineContract } from './lanes/lines.ts'
import { looksContract } from './lanes/looks.ts'
import { idContract } from './native/ids.ts'
import { nativeContract } from './native/native.ts'
import { batchContract } from './jobs/batches.ts'
import { cronContract } from './jobs/cron.ts'
import { deathContract } from './nodes/deaths.ts'
import { nodeContract } from './nodes/nodes.ts'
import { otherDataContract } from './nodes/other-data.ts'
import { registryContract } from './lanes/registry.ts'
import { opennessContract } from './lanes/openness.ts'
import { lateContract } from './jobs/late.ts'
import { outcomeContract } from './jobs/outcomes.ts'
import { stepContract } from './step.ts'
import { queueContract } from './lanes/queues.ts'
import { reclaimContract } from './nodes/reclaim.ts'
import { routedJobContract } from './jobs/routed.ts'
import { setContract } from './jobs/sets.ts'
import { sharingContract } from './lanes/sharing.ts'
import { throttleContract } from './lanes/throttles.ts'
import { functionLimitContract } from './lanes/function-limits.ts'
import { turnContract } from './lanes/turns.ts'
import { dependenciesContract } from './jobs/dependencies.ts'
import { pushedAgainContract } from './jobs/pushed-again.ts'
import { testOf } from './kit.ts'
import type { StoreWorld, WorldOptions } from './store-world.ts'

/**
 * The tests that every store must pass, as a vitest suite. `makeWorld` gives an empty store; after
 * each test it is checked for violations.
 */
export function storeContract(
  name: string,
  makeWorld: (options: WorldOptions) => Promise<StoreWorld>,
): void {
  describe(`the contract of stores, kept by ${name}`, () => {
    const worlds: StoreWorld[] = []
    const open = async (options: WorldOptions = {}): Promise<StoreWorld> => {
      const world = await makeWorld(options)
      worlds.push(world)
      return world
    }
    afterEach(async () => {
      for (const world of worlds.splice(0)) {
        try {
          expect(await world.violations(), 'what is wrong in the store').toEqual([])
        } finally {
          await world.close()
        }
      }
    })
    const tests = { open, test: testOf(open) }
    stepContract(tests)
    queueContract(tests)
    lineContract(tests)
    looksContract(tests)
    byLevelContract(tests)
    sharingContract(tests)
    outcomeContract(tests)
    lateContract(tests)
    aheadContract(tests)
    deathContract(tests)
    nodeContract(tests)
    otherDataContract(tests)
    reclaimContract(tests)
    opennessContract(tests)
    deadContract(tests)
    onDeathContract(tests)
    administrationContract(tests)
    registryContract(tests)
    setContract(tests)
    dependenciesContract(tests)
    admissionContract(tests)
    routedJobContract(tests)
    pushedAgainContract(tests)
    batchContract(tests)
    cronContract(tests)
    holderContract(tests)
    historyContract(tests)
    auditContract(tests)
    inspectContract(tests)
    throttleContract(tests)
    functionLimitContract(tests)
    turnContract(tests)
    idContract(tests)
    nativeContract(tests)
    orphanContract(tests)
    leftKeyContract(tests)
  })
}
