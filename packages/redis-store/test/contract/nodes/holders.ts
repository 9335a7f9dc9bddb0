import { describe, expect } from 'vitest'
import type { HeldRef } from '@crossgear/core-scheduler'
import type { ContractTests } from '../kit.ts'

const lease = (id: number): HeldRef => ({ lane: 'mail to:all', id, token: `cnode-${id}` })

/** Holders of leases, and the silent ones among them. */
export function holderContract({ test }: ContractTests): void {
  describe('holders of leases', () => {
    test('are known with their jobs at every node, until these end', async ({ world }) => {
      const [a, b] = [await world.node(), await world.node()]
      await a.holders.hold('w1', [lease(1), lease(2)])
      await b.holders.hold('w1', [lease(3)])
      await b.holders.drop('w1', ['cnode-2', 'unknown'])
      const held = await b.holders.held('w1')
      expect([...held].sort((one, other) => one.id - other.id)).toEqual([lease(1), lease(3)])
      expect(await a.holders.held('w2')).toEqual([])
      await a.holders.drop('w1', ['cnode-1', 'cnode-3'])
      await a.holders.gone(['w1'])
      expect(await a.holders.goneFor(-1_000, 9)).toEqual([])
    })

    test('are asked as a whole which leases they have', async ({ world }) => {
      const [a, b] = [await world.node(), await world.node()]
      await a.holders.hold('w1', [lease(1), lease(2)])
      await a.holders.hold('w2', [lease(3)])
      await a.holders.drop('w1', ['cnode-2'])
      const asked = [1, 2, 3, 4].map((id) => lease(id).token)
      expect([...(await b.holders.noted(asked))].sort()).toEqual(['cnode-1', 'cnode-3'])
      expect(await b.holders.noted(['cnode-2'])).toEqual(new Set())
    })

    test('are walked in parts, each once', async ({ store }) => {
      const names = Array.from({ length: 300 }, (_none, at) => `w${at}`)
      for (const name of names) await store.holders.hold(name, [lease(1)])
      const walked: string[] = []
      let cursor = '0'
      do {
        const { holders, next } = await store.holders.some(cursor, 50)
        walked.push(...holders)
        cursor = next
      } while (cursor !== '0')
      expect(walked.toSorted()).toEqual(names.toSorted())
    })

    test('are gone since they went, the longest first, until they come back', async ({
      world,
      store,
    }) => {
      for (const holder of ['w1', 'w2', 'w3', 'w4']) await store.holders.hold(holder, [lease(1)])
      await store.holders.gone(['w1', 'w2', 'w3', 'stranger'])
      await world.pass(50_000)
      await store.holders.alive(['w1', 'stranger'])
      await store.holders.hold('w3', [lease(2)])
      await store.holders.gone(['w1', 'w2'])
      await world.pass(20_000)
      const gone = await store.holders.goneFor(60_000, 9)
      expect(gone.map(({ holder }) => holder)).toEqual(['w2'])
      expect(gone[0]?.goneMs).toBeGreaterThanOrEqual(70_000)
      expect(await store.holders.goneFor(60_000, 9)).toMatchObject([{ sinceMs: gone[0]?.sinceMs }])
      const all = await store.holders.goneFor(10_000, 9)
      expect(all.map(({ holder }) => holder)).toEqual(['w2', 'w1'])
      expect(await store.holders.goneFor(10_000, 1)).toHaveLength(1)
    })

    test('are there however silent, until no lease can stand any more', async ({
      world,
      store,
    }) => {
      await store.holders.hold('w1', [lease(1)])
      await world.pass(86_400_000)
      expect(await store.holders.goneFor(60_000, 9)).toEqual([])
      await world.pass(86_500_000)
      expect(await store.holders.goneFor(60_000, 9)).toMatchObject([{ holder: 'w1' }])
    })
  })
}
