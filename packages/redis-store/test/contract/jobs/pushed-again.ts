import { describe, expect } from 'vitest'
import {
  aJob,
  bytes,
  completed,
  submitAll,
  submitOne,
  takeOne,
  type ContractTests,
} from '../kit.ts'

/** A producer without an answer pushes its job once more. */
export function pushedAgainContract({ test }: ContractTests): void {
  describe('a job that is pushed again', () => {
    const pushed = aJob({
      door: 'faktory',
      jid: 'jid-12345',
      input: bytes('[1]'),
      envelope: '{"jid":"jid-12345","created_at":"2026-01-01T00:00:00Z"}',
    })

    test.for([
      ['due at once', pushed],
      ['due later', { ...pushed, dueAtMs: 8e12 }],
    ] as const)('joins the first one, %s, from any node', async ([_when, job], { world }) => {
      const [here, there] = [await world.node(), await world.node()]
      const [id] = await submitAll(here, 'mail', [job])
      expect(await there.steps.submit('mail', [job])).toEqual([{ kind: 'joined', id }])
      expect((await there.lanes.counts(['mail']))[0]).toMatchObject({ submitted: 1 })
      expect(await world.violations()).toEqual([])
    })

    test('joins it while it runs, and is a new one after its end', async ({ store }) => {
      const id = await submitOne(store, 'mail', pushed)
      const running = await takeOne(store, 'mail')
      expect(await store.steps.submit('mail', [pushed])).toEqual([{ kind: 'joined', id }])
      await store.steps.finish('mail', [completed(running, 'out')])
      expect(await store.steps.submit('mail', [pushed])).toMatchObject([{ kind: 'created' }])
    })

    test('is another one if only its jid is the same', async ({ store }) => {
      await submitOne(store, 'mail', pushed)
      const others = [
        { ...pushed, envelope: '{"jid":"jid-12345","created_at":"2026-01-01T00:00:01Z"}' },
        aJob({ jid: 'jid-12345' }),
      ]
      for (const other of others) {
        expect(await store.steps.submit('mail', [other])).toMatchObject([{ kind: 'created' }])
      }
      expect(await store.steps.submit('sms', [pushed])).toMatchObject([{ kind: 'created' }])
    })
  })
}
