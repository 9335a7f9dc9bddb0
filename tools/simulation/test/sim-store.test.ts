import { afterAll, beforeAll, expect, test } from 'vitest'
import { planOf } from '../world/plan.ts'
import { SimStores } from '../world/sim-store.ts'
import { World, type WorldEnd } from '../world/world.ts'

let stores: SimStores
beforeAll(async () => {
  stores = await SimStores.start()
})
afterAll(() => stores.stop())

async function live(seed: number, on = stores): Promise<WorldEnd & { readonly story: string }> {
  const lines: string[] = []
  const tell = (line: string): void => void lines.push(line)
  const world = new World(planOf(seed), { openStore: on.open, tell })
  try {
    return { ...(await world.run()), story: lines.join('\n') }
  } finally {
    await world.store.close()
  }
}

test('worlds have the same story again, also on another server after other worlds', async () => {
  const others = await SimStores.start()
  try {
    await live(13, others)
    for (const seed of [3, 47]) {
      const { story } = await live(seed)
      expect(story.split('\n').length).toBeGreaterThan(10)
      expect((await live(seed, others)).story).toBe(story)
    }
  } finally {
    await others.stop()
  }
})
