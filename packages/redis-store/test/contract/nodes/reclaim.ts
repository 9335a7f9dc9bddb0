import { describe, expect } from 'vitest'
import {
  allCompleted,
  bytes,
  completed,
  type ContractTests,
  copies,
  idsOf,
  listening,
  lossesOf,
  readOne,
  reclaimNode,
  retried,
  seen,
  submitAll,
  submitOne,
  take,
  takeOne,
} from '../kit.ts'

/** Reclaims the clients and jobs of a node that died. */
export function reclaimContract({ test }: ContractTests): void {
  describe('a node that died', () => {
    const foreground = { foreground: true }

    test('has no clients: jobs without other clients are not run', async ({ world }) => {
      const [dead, alive] = [await world.node(), await world.node()]
      const [high, normal, low] = [
        await submitOne(dead, 'mail', { ...foreground, level: 8 }),
        await submitOne(dead, 'mail', foreground),
        await submitOne(dead, 'mail', { ...foreground, level: 2 }),
      ]
      const shared = await submitOne(dead, 'mail', { ...foreground, unique: bytes('one') })
      await submitOne(alive, 'mail', { ...foreground, unique: bytes('one') })
      const joined = await submitOne(dead, 'mail', { ...foreground, unique: bytes('other') })
      await submitOne(alive, 'mail', { unique: bytes('other') })
      const background = await submitOne(dead, 'mail')
      await reclaimNode(alive, dead.node, ['mail'])
      expect(await seen(alive, 'mail', shared)).toMatchObject({ waiting: 1 })
      expect(await seen(alive, 'mail', joined)).toMatchObject({ waiting: 0 })
      expect(idsOf(await take(alive, ['mail'], 9))).toEqual([shared, joined, background])
      for (const id of [high, normal, low]) {
        expect(await readOne(alive, 'mail', id)).toBeUndefined()
      }
    })

    test('has its jobs counted as they are put back, those of all pieces and lanes', async ({
      world,
    }) => {
      const [dead, alive] = [await world.node(), await world.node()]
      await submitAll(dead, 'mail', copies(700))
      await submitAll(dead, 'report', copies(2))
      expect(await take(dead, ['mail'], 600)).toHaveLength(600)
      expect(await take(dead, ['report'], 2)).toHaveLength(2)
      await alive.nodes.declareDead(dead.node)
      const { requeued } = await alive.nodes.reclaim(dead.node, ['mail', 'report'], lossesOf(0))
      expect(requeued).toBe(602)
    })

    test('is removed from every job of a long queue', async ({ world }) => {
      const [dead, alive] = [await world.node(), await world.node()]
      const first = await submitOne(dead, 'mail')
      await submitAll(dead, 'mail', copies(1_700, foreground))
      const last = await submitOne(dead, 'mail')
      await reclaimNode(alive, dead.node, ['mail'])
      expect(idsOf(await take(alive, ['mail'], 9))).toEqual([first, last])
    })

    test('finds the outcomes of jobs that ran elsewhere, if it was only cut off', async ({
      world,
    }) => {
      const [dead, alive] = [await world.node(), await world.node()]
      const running = await submitOne(dead, 'mail', foreground)
      const shared = await submitOne(dead, 'mail', { ...foreground, unique: bytes('one') })
      await submitOne(alive, 'mail', { ...foreground, unique: bytes('one') })
      const first = await takeOne(alive, 'mail')
      await submitOne(dead, 'mail', { ...foreground, unique: bytes('two') })
      const joined = await submitOne(alive, 'mail', { unique: bytes('two') })
      const background = await submitOne(dead, 'mail')
      await reclaimNode(alive, dead.node, ['mail'])
      const held = [first, ...(await take(alive, ['mail'], 9))]
      expect(idsOf(held)).toEqual([running, shared, joined, background])
      await alive.steps.finish('mail', allCompleted(held))
      for (const id of [running, shared, joined]) {
        expect(await readOne(dead, 'mail', id)).toMatchObject({ status: 'success' })
      }
      expect(await readOne(dead, 'mail', background)).toBeUndefined()
    })

    test('that has left as it should has no clients that ask for an outcome', async ({ world }) => {
      const [leaving, alive] = [await world.node(), await world.node()]
      const id = await submitOne(leaving, 'mail', foreground)
      const held = await takeOne(alive, 'mail')
      await leaving.nodes.leave(['mail'])
      await alive.steps.finish('mail', [completed(held)])
      expect(await readOne(alive, 'mail', id)).toBeUndefined()
    })

    test('has no clients of a job that waits for a retry', async ({ world }) => {
      const [dead, alive] = [await world.node(), await world.node()]
      const id = await submitOne(dead, 'mail', foreground)
      await alive.steps.finish('mail', [retried(await takeOne(alive, 'mail'), 1_000)])
      await reclaimNode(alive, dead.node, ['mail'])
      await world.pass(1_001)
      await alive.lanes.promote()
      expect(await take(alive, ['mail'])).toEqual([])
      expect(await readOne(alive, 'mail', id)).toBeUndefined()
    })

    test('is a worker lost to each job that its workers held', async ({ world }) => {
      const [alive, client] = [await world.node(), await listening(world)]
      const id = await submitOne(client.store, 'mail', foreground)
      const first = await world.node()
      await takeOne(first, 'mail')
      expect(await reclaimNode(alive, first.node, ['mail'], lossesOf(2))).toEqual(['mail'])
      expect(await seen(alive, 'mail', id)).toMatchObject({ status: 'idle', losses: 1 })
      const second = await world.node()
      await takeOne(second, 'mail')
      expect(await reclaimNode(alive, second.node, ['mail'], lossesOf(2))).toEqual([])
      const reported = await client.log.waitFor('relayed')
      expect(reported).toMatchObject({ ref: { lane: 'mail', id }, event: 'finish' })
      expect(await seen(alive, 'mail', id)).toMatchObject({ status: 'error', settled: true })
      expect((await alive.lanes.counts(['mail']))[0]).toMatchObject({
        lost: 1,
        normal: 0,
        running: 0,
      })
    })

    test('drops a job that its worker held and only its own client waited for', async ({
      world,
    }) => {
      const [dead, alive] = [await world.node(), await world.node()]
      const id = await submitOne(dead, 'mail', foreground)
      await takeOne(dead, 'mail')
      expect(await reclaimNode(alive, dead.node, ['mail'])).toEqual([])
      expect(await readOne(alive, 'mail', id)).toBeUndefined()
    })

    test('and turns out alive registers its waiting clients again', async ({ world }) => {
      const [taken, alive] = [await world.node(), await world.node()]
      const id = await submitOne(taken, 'mail', { ...foreground, unique: bytes('one') })
      await submitOne(taken, 'mail', { ...foreground, unique: bytes('one') })
      const kept = await submitOne(taken, 'sms', foreground)
      await reclaimNode(alive, taken.node, ['mail'])
      await taken.nodes.waitAgain(
        'mail',
        new Map([
          [id, 2],
          [id + 1, 1],
        ]),
      )
      await taken.nodes.waitAgain('sms', new Map([[kept, 1]]))
      expect((await seen(alive, 'mail', id)).waiting).toBe(2)
      expect((await seen(alive, 'sms', kept)).waiting).toBe(1)
      await taken.jobs.abandon('mail', [id])
      expect(idsOf(await take(alive, ['mail'], 9))).toEqual([id])
      expect(await readOne(alive, 'mail', id + 1)).toBeUndefined()
    })

    test('leaves no abandoned job when it stops normally', async ({ world }) => {
      const [leaving, alive] = [await world.node(), await world.node()]
      await submitOne(leaving, 'mail', foreground)
      const id = await submitOne(leaving, 'mail')
      const held = await submitOne(leaving, 'sms')
      await takeOne(leaving, 'sms')
      await leaving.nodes.leave(['mail', 'sms'])
      expect(idsOf(await take(alive, ['mail'], 9))).toEqual([id])
      expect(await seen(alive, 'sms', held)).toMatchObject({ status: 'idle', losses: 0 })
    })
  })
}
