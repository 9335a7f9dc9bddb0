import { afterAll, expect, test } from 'vitest'
import type { Plan } from '../world/plan.ts'
import { SimStores } from '../world/sim-store.ts'
import { World } from '../world/world.ts'

const stores = await SimStores.start()
afterAll(() => stores.stop())

const storeAway: Plan = {
  seed: 1,
  gateways: 1,
  wildMs: 4_000,
  functionOrder: 'in-order',
  hasThrottles: false,
  hasRoutes: false,
  hasCron: false,
  waitsForReplica: false,
  changes: [],
  faults: [{ number: 1, kind: 'store away', atMs: 600, forMs: 8_000 }],
  peers: [
    { name: 'producer1', kind: 'faktory producer', jobs: 6 },
    { name: 'producer2', kind: 'faktory producer', jobs: 6 },
    { name: 'consumer1', kind: 'faktory consumer', jobs: 0 },
    { name: 'consumer2', kind: 'faktory consumer', jobs: 0 },
    { name: 'consumer3', kind: 'faktory consumer', jobs: 0 },
  ],
}

test('a worker drops an outcome that is refused while the store is away, and it counts', async () => {
  let kept = 0
  for (const seed of [1, 2, 3]) {
    const world = new World({ ...storeAway, seed }, { openStore: stores.open })
    const { problems, history } = await world.run()
    expect({ seed, problems }).toEqual({ seed, problems: [] })
    kept += history.runs.filter(({ isKept }) => isKept).length
    await world.store.close()
  }
  expect(kept).toBeGreaterThan(0)
})
