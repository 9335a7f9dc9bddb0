import { describe, expect } from 'vitest'
import { maxLanes } from '@crossgear/core-scheduler'
import { aJob, completed, submitOne, take, takeOne, type ContractTests } from '../kit.ts'

/** Ids after the store has lost jobs. */
export function otherDataContract({ test }: ContractTests): void {
  describe('other data', () => {
    test('a store with other data says so to each node once, and gives no id again', async ({
      world,
    }) => {
      const [a, b] = [await world.node(), await world.node()]
      for (const node of [a, b]) await node.nodes.beat()
      const first = await submitOne(a, 'mail')
      await world.replaceData()
      for (const node of [a, b]) {
        expect((await node.nodes.beat()).wasReset).toBe(true)
        expect((await node.nodes.beat()).wasReset).toBe(false)
      }
      const second = await submitOne(a, 'mail')
      expect(second).toBeGreaterThan(first + 2 ** 20)
      expect(await submitOne(b, 'mail')).toBe(second + 1)
      expect(await submitOne(b, 'sms')).toBeGreaterThan(2 ** 20)
      expect(await a.lanes.register('fax')).toBeGreaterThan(maxLanes)
      expect(await world.violations()).toEqual([])
    })

    test('nor do native programs get one, once a node has learnt of the other data', async ({
      world,
    }) => {
      const a = await world.node()
      await a.nodes.beat()
      const first = await submitOne(a, 'mail')
      await world.replaceData()
      await a.nodes.beat()
      for (let again = 0; again < 2; again += 1) await a.lanes.skipLostIds(['mail', 'sms'])
      const second = await world.native.write('mail', Buffer.from('x'))
      expect(second).toBeGreaterThan(first + 2 ** 20)
      expect(await submitOne(a, 'mail')).toBe(second + 1)
      expect(await world.native.write('sms', Buffer.from('x'))).toBeGreaterThan(2 ** 20)
      expect(await world.violations()).toEqual([])
    })

    test('nor does the callback of a batch, though no node has skipped ids since', async ({
      world,
    }) => {
      const a = await world.node()
      await a.nodes.beat()
      const job = { ...aJob({ door: 'faktory' }), jid: 'the-callback' }
      const complete = { lane: 'calls', job }
      await a.batches.create({ bid: 'b-1', description: '', complete })
      await submitOne(a, 'mail', { door: 'faktory', batch: 'b-1' })
      await a.batches.commit('b-1')
      const lost = await submitOne(a, 'calls')
      await world.replaceData()
      await a.nodes.beat()
      await a.steps.finish('mail', [completed(await takeOne(a, 'mail'))])
      const [callback] = (await take(a, ['calls'], 9)).filter(({ id }) => id !== lost)
      expect(callback?.id).toBeGreaterThan(lost + 2 ** 20)
      expect(await world.violations()).toEqual([])
    })
  })
}
