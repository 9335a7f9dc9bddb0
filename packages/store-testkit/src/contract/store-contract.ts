import { afterEach, describe, expect } from 'vitest'
import { administrationContract } from './contract-administration.ts'
import { aheadContract } from './contract-ahead.ts'
import { byLevelContract } from './contract-by-level.ts'
import { deadContract } from './contract-dead.ts'
import { leftKeyContract } from './contract-left-keys.ts'
import { orphanContract } from './contract-orphans.ts'
import { holderContract } from './contract-holders.ts'
import { lineContract } from './contract-lines.ts'
import { nativeContract } from './contract-native.ts'
import { batchContract } from './contract-batches.ts'
import { cronContract } from './contract-cron.ts'
import { nodeContract } from './contract-nodes.ts'
import { opennessContract } from './contract-openness.ts'
import { outcomeContract } from './contract-outcomes.ts'
import { stepContract } from './contract-step.ts'
import { queueContract } from './contract-queues.ts'
import { reclaimContract } from './contract-reclaim.ts'
import { setContract } from './contract-sets.ts'
import { sharingContract } from './contract-sharing.ts'
import { throttleContract } from './contract-throttles.ts'
import { dependenciesContract } from './contract-dependencies.ts'
import type { StoreWorld, WorldOptions } from './store-world.ts'

/**
 * The tests that every store must pass, as a vitest suite. `makeWorld` gives an empty store; what
 * each test leaves in it must be in order.
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
    stepContract(open)
    queueContract(open)
    lineContract(open)
    byLevelContract(open)
    sharingContract(open)
    outcomeContract(open)
    aheadContract(open)
    nodeContract(open)
    reclaimContract(open)
    opennessContract(open)
    deadContract(open)
    administrationContract(open)
    setContract(open)
    dependenciesContract(open)
    batchContract(open)
    cronContract(open)
    holderContract(open)
    throttleContract(open)
    nativeContract(open)
    orphanContract(open)
    leftKeyContract(open)
  })
}
