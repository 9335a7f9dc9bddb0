import { describe, expect } from 'vitest'
import type { SteppedStore } from '../store-world.ts'
import { aJob, type ContractTests } from '../kit.ts'

const tickAt = async (store: SteppedStore, atMs: number): Promise<string | undefined> =>
  (await store.steps.submit('mail', [aJob({ tick: { entry: 'nightly', atMs } })]))[0]?.kind

/** Cron jobs. */
export function cronContract({ test }: ContractTests): void {
  describe('cron', () => {
    test('a tick creates one job, whichever node submits it, and an earlier tick creates none', async ({
      world,
    }) => {
      const [here, there] = [await world.node(), await world.node()]
      const kinds = await Promise.all([tickAt(here, 60_000), tickAt(there, 60_000)])
      expect(kinds.sort()).toEqual(['created', 'ticked'])
      expect(await tickAt(there, 0)).toBe('ticked')
      expect(await tickAt(there, 120_000)).toBe('created')
      expect(await here.cron.lastTick('mail', 'nightly')).toBe(120_000)
      expect(await here.cron.lastTick('mail', 'hourly')).toBeUndefined()
    })

    test('a tick whose job is refused creates none', async ({ store }) => {
      const lock = { key: 'k', forMs: 60_000, until: 'success' } as const
      await store.steps.submit('mail', [aJob({ lock })])
      const job = aJob({ lock, tick: { entry: 'nightly', atMs: 60_000 } })
      expect(await store.steps.submit('mail', [job])).toEqual([{ kind: 'locked' }])
      expect(await store.cron.lastTick('mail', 'nightly')).toBeUndefined()
    })

    test('entries are kept for all nodes until they are removed', async ({ world }) => {
      const [here, there] = [await world.node(), await world.node()]
      await here.cron.save('nightly', '{}')
      expect([...(await there.cron.entries())]).toEqual([['nightly', '{}']])
      expect(await there.cron.remove('nightly')).toBe(true)
      expect(await here.cron.remove('nightly')).toBe(false)
      expect([...(await here.cron.entries())]).toEqual([])
    })

    test('a pause is known at all nodes, until it ends or its entry is removed', async ({
      world,
    }) => {
      const [here, there] = [await world.node(), await world.node()]
      await here.cron.save('added', '{}')
      await here.cron.setPaused(['added', 'of a file', 'other'], true)
      await there.cron.setPaused(['other'], false)
      expect([...(await there.cron.paused())].sort()).toEqual(['added', 'of a file'])
      await there.cron.remove('added')
      expect([...(await here.cron.paused())]).toEqual(['of a file'])
    })
  })
}
