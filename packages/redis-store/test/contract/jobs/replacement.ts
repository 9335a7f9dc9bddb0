import { describe, expect } from 'vitest'
import {
  aJob,
  bytes,
  type ContractTests,
  copies,
  idsOf,
  killed,
  readOne,
  retried,
  submitAll,
  submitOne,
  take,
  takeOne,
} from '../kit.ts'

const origin = '1-1'
const farAheadMs = 4_000_000_000_000

/** A job that an operator replaces by another one. */
export function replacementContract({ open, test }: ContractTests): void {
  describe('a replacement', () => {
    test('has all that the old job had, but for what is given anew', async ({ store }) => {
      const fields = {
        door: 'faktory',
        jid: 'jid-1',
        unique: bytes('u'),
        envelope: '{"jobtype":"mail","custom":{"a":1}}',
        retries: 3,
        reserveForSeconds: 90,
        retentionSeconds: 5,
        level: 7,
      } as const
      const first = await submitOne(store, 'mail', fields)
      const result = await store.admin.replace('mail', first, {
        input: bytes('better'),
        level: 2,
        origin,
      })
      expect(result).toEqual({ kind: 'replaced', id: 2, isRerun: false })
      const { id: _id, enqueuedAtMs: _time, ...found } = (await readOne(store, 'mail', 2))!
      expect(found).toMatchObject({ ...fields, input: bytes('better'), level: 2, origin })
      expect(await readOne(store, 'mail', first)).toBeUndefined()
      expect(await store.jobs.findJid('jid-1')).toMatchObject({ lane: 'mail', id: 2 })
      const [joined] = await store.steps.submit('mail', [aJob({ unique: bytes('u') })])
      expect(joined).toEqual({ kind: 'joined', id: 2 })
      expect(idsOf(await take(store, ['mail'], 9))).toEqual([2])
    })

    test('of a failed or dead job is queued, without its failures', async ({ store }) => {
      await submitAll(store, 'mail', copies(2, { door: 'faktory' }))
      await store.steps.finish('mail', [retried(await takeOne(store, 'mail'), 60_000)])
      await store.steps.finish('mail', [killed(await takeOne(store, 'mail'))])
      for (const id of [1, 2]) {
        const replaced = { kind: 'replaced', id: id + 2, isRerun: true }
        expect(await store.admin.replace('mail', id, { origin })).toEqual(replaced)
      }
      const taken = await take(store, ['mail'], 9)
      expect(taken).toMatchObject([{ id: 3 }, { id: 4 }])
      expect(taken.map(({ failure, losses }) => [failure, losses])).toEqual([
        [undefined, 0],
        [undefined, 0],
      ])
      const [counts] = await store.lanes.counts(['mail'])
      expect(counts).toMatchObject({ submitted: 2, rerun: 2, dead: 0, running: 2 })
    })

    test('may have an empty payload, and be due later', async ({ store }) => {
      const first = await submitOne(store, 'mail')
      const due = { input: bytes(''), dueAtMs: farAheadMs, origin }
      expect(await store.admin.replace('mail', first, due)).toMatchObject({ kind: 'replaced' })
      expect(await store.inspect.setIds('mail', 'scheduled', 0, 9)).toMatchObject({ ids: [2] })
      expect(await store.admin.replace('mail', 2, { origin })).toEqual({
        kind: 'replaced',
        id: 3,
        isRerun: true,
      })
      expect(await takeOne(store, 'mail')).toMatchObject({ id: 3, input: bytes('') })
    })

    test('is refused where a worker has the job, or a client waits for it, and changes nothing', async ({
      store,
    }) => {
      const first = await submitOne(store, 'mail', { jid: 'jid-1' })
      const lease = await takeOne(store, 'mail')
      expect(await store.admin.replace('mail', first, { origin })).toEqual({ kind: 'runs' })
      expect(await readOne(store, 'mail', first)).toMatchObject({ token: lease.token })
      const second = await submitOne(store, 'mail', { foreground: true })
      expect(await store.admin.replace('mail', second, { origin })).toEqual({ kind: 'awaited' })
      expect(await store.admin.replace('mail', 99, { origin })).toEqual({ kind: 'gone' })
      expect(await takeOne(store, 'mail')).toMatchObject({ id: second })
      expect(await submitOne(store, 'mail')).toBe(3)
    })

    test('leaves a jid and a unique id to the job that has them by now', async ({ store }) => {
      const fields = { door: 'faktory', jid: 'jid-1', unique: bytes('u') } as const
      const first = await submitOne(store, 'mail', fields)
      await store.steps.finish('mail', [killed(await takeOne(store, 'mail'))])
      const second = await submitOne(store, 'mail', fields)
      expect(await store.admin.replace('mail', first, { origin })).toMatchObject({ id: 3 })
      expect(await store.jobs.findJid('jid-1')).toMatchObject({ id: second })
      const [joined] = await store.steps.submit('mail', [aJob({ unique: bytes('u') })])
      expect(joined).toEqual({ kind: 'joined', id: second })
    })

    test('finds a job deep in a queue, and comes behind the others of its level', async () => {
      const world = await open()
      const store = await world.node()
      await submitAll(store, 'mail', copies(40))
      expect(await store.admin.replace('mail', 20, { origin })).toMatchObject({ id: 41 })
      const ids = idsOf(await take(store, ['mail'], 99))
      expect(ids).toHaveLength(40)
      expect(ids).not.toContain(20)
      expect(ids.at(-1)).toBe(41)
    })
  })
}
