import { describe, expect } from 'vitest'
import { lossesOf, reclaimNode, submitAll, aJob, takeOne, type ContractTests } from '../kit.ts'
import type { SteppedStore } from '../store-world.ts'

/** Nodes that are taken for dead, and what they learn of it. */
export function deathContract({ open, test }: ContractTests): void {
  describe('a node that is taken for dead', () => {
    /** Nodes that have sent a heartbeat. */
    async function nodes(): Promise<readonly [SteppedStore, SteppedStore, SteppedStore]> {
      const world = await open()
      const three = [await world.node(), await world.node(), await world.node()] as const
      for (const { nodes } of three) await nodes.beat()
      return three
    }

    const learns = async ({ nodes }: SteppedStore): Promise<boolean> =>
      (await nodes.beat()).wasReset
    const knows = async (one: SteppedStore, other: SteppedStore): Promise<boolean> =>
      (await one.nodes.beat()).heartbeats.has(other.node)

    test('learns that with each heartbeat while it is reclaimed, and once more', async () => {
      const [taken, other] = await nodes()
      expect(await other.nodes.declareDead(taken.node)).toBe(true)
      expect([await learns(taken), await learns(taken)]).toEqual([true, true])
      await other.nodes.reclaim(taken.node, ['mail'], lossesOf(0))
      await other.nodes.endReclaim(taken.node, true)
      expect(await knows(other, taken)).toBe(true)
      expect([await learns(taken), await learns(taken)]).toEqual([true, false])
    })

    test('learns that after a reclaim that left lanes', async () => {
      const [taken, other] = await nodes()
      await other.nodes.declareDead(taken.node)
      await other.nodes.endReclaim(taken.node, false)
      expect(await knows(other, taken)).toBe(true)
      expect([await learns(taken), await learns(taken)]).toEqual([true, false])
    })

    test('learns that although the node that reclaimed it died in between', async () => {
      const [taken, dies, third] = await nodes()
      await dies.nodes.declareDead(taken.node)
      expect(await third.nodes.declareDead(dies.node)).toBe(true)
      expect([await learns(taken), await learns(taken)]).toEqual([true, false])
    })

    test('is reclaimed by one node at a time, and by the next if that one is dead', async () => {
      const [taken, dies, third] = await nodes()
      expect(await dies.nodes.declareDead(taken.node)).toBe(true)
      expect(await third.nodes.declareDead(taken.node)).toBe(false)
      expect(await dies.nodes.declareDead(taken.node)).toBe(true)
      await third.nodes.declareDead(dies.node)
      expect(await third.nodes.declareDead(taken.node)).toBe(true)
      await third.nodes.endReclaim(taken.node, true)
      expect(await knows(third, taken)).toBe(false)
    })

    test('is known again before its worker counts are, and learns that it was forgotten', async () => {
      const [taken, other] = await nodes()
      await reclaimNode(other, taken.node, ['mail'])
      await taken.lanes.setWorkers(new Map([['mail', { named: 1, consumers: 0 }]]))
      expect(await knows(other, taken)).toBe(true)
      expect([await learns(taken), await learns(taken)]).toEqual([true, false])
      await reclaimNode(other, taken.node, ['mail'])
      expect((await other.lanes.counts(['mail']))[0]?.workers).toBe(0)
    })

    test('is named by its lanes until nothing of it is left there', async () => {
      const [taken, other] = await nodes()
      await other.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 1 }]]))
      await other.lanes.setWorkers(new Map([['mail', { named: 0, consumers: 0 }]]))
      await taken.lanes.setWorkers(new Map([['sms', { named: 0, consumers: 1 }]]))
      await submitAll(other, 'mail', [aJob()])
      await takeOne(taken, 'mail')
      const named = async (...lanes: string[]) => other.nodes.inLanes(lanes)
      expect(await named('mail', 'fax', 'sms')).toEqual([taken.node])
      expect(await named('fax')).toEqual([])
      await reclaimNode(other, taken.node, ['mail'])
      expect(await named('mail')).toEqual([])
      expect(await named('sms')).toEqual([taken.node])
    })

    test('has leases of consumers, which stand and are named', async () => {
      const [taken, other] = await nodes()
      await submitAll(other, 'mail', [aJob(), aJob({ door: 'faktory' }), aJob()])
      const fetch = { by: 'consumer', queue: 'default' } as const
      const [first, second] = [
        await takeOne(taken, 'mail', fetch),
        await takeOne(taken, 'mail', fetch),
      ]
      await takeOne(other, 'mail', fetch)
      await other.nodes.declareDead(taken.node)
      const { consumed } = await other.nodes.reclaim(taken.node, ['mail'], lossesOf(0))
      expect([...consumed].sort((one, two) => one.id - two.id)).toEqual([
        { lane: 'mail', id: first.id, token: first.token, door: 'gearman' },
        { lane: 'mail', id: second.id, token: second.token, door: 'faktory' },
      ])
    })
  })
}
