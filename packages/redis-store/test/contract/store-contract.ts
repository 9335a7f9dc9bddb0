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
import { replacementContract } from './jobs/replacement.ts'
import { setContract } from './jobs/sets.ts'
import { sharingContract } from './lanes/sharing.ts'
import { throttleContract } from './lanes/throttles.ts'
import { functionLimitContract } from './lanes/function-limits.ts'
import { turnContract } from './lanes/turns.ts'
import { dependenciesContract } from './jobs/dependencies.ts'
import { pushedAgainContract } from './jobs/pushed-again.ts'
import { testOf, type ContractTests } from './kit.ts'
import type { StoreWorld, WorldOptions } from './store-world.ts'

/** Tests of a part of what a store promises. */
export type ContractPart = (tests: ContractTests) => void

/** Parts whose requests go to several slots of a cluster at once, which it answers by code of its own. */
export const partsOfSlots: readonly ContractPart[] = [
  stepContract,
  lineContract,
  throttleContract,
  batchContract,
]

/** Parts whose requests are those of a single server, also in a cluster. */
export const commonParts: readonly ContractPart[] = [
  queueContract,
  looksContract,
  byLevelContract,
  sharingContract,
  outcomeContract,
  lateContract,
  aheadContract,
  deathContract,
  nodeContract,
  otherDataContract,
  reclaimContract,
  opennessContract,
  deadContract,
  onDeathContract,
  administrationContract,
  registryContract,
  replacementContract,
  setContract,
  dependenciesContract,
  admissionContract,
  routedJobContract,
  pushedAgainContract,
  cronContract,
  holderContract,
  historyContract,
  auditContract,
  inspectContract,
  functionLimitContract,
  turnContract,
  idContract,
  nativeContract,
  orphanContract,
  leftKeyContract,
]

/**
 * The tests that every store must pass, as a vitest suite. `makeWorld` gives an empty store; after
 * each test it is checked for violations. All parts are played unless some are given.
 */
export function storeContract(
  name: string,
  makeWorld: (options: WorldOptions) => Promise<StoreWorld>,
  parts: readonly ContractPart[] = [...partsOfSlots, ...commonParts],
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
    for (const part of parts) part(tests)
  })
}
