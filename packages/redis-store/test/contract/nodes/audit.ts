import { auditBounds } from '@crossgear/core-scheduler'
import { describe, expect } from 'vitest'
import type { ContractTests } from '../kit.ts'

/** The audit, and the records of what was deleted. */
export function auditContract({ open, test }: ContractTests): void {
  describe('audit', () => {
    test('all nodes read the entries, the newest first, in pages and one by one', async () => {
      const world = await open()
      const [here, there] = [await world.node(), await world.node()]
      const ids: string[] = []
      for (const text of ['first', 'second', 'third']) ids.push(await here.audit.add(text))
      const page = await there.audit.list(2)
      expect(page).toEqual([
        { id: ids[2], text: 'third' },
        { id: ids[1], text: 'second' },
      ])
      expect(await there.audit.list(5, ids[1])).toEqual([{ id: ids[0], text: 'first' }])
      expect(await there.audit.list(5, ids[0])).toEqual([])
      const [oldest, next] = await there.audit.list(2, undefined, 'asc')
      expect([oldest?.id, next?.id]).toEqual(ids.slice(0, 2))
      expect((await there.audit.list(5, ids[0], 'asc')).map(({ id }) => id)).toEqual(ids.slice(1))
      expect(await there.audit.find(ids[1] ?? '')).toEqual({ id: ids[1], text: 'second' })
      expect(await there.audit.find('1-1')).toBeUndefined()
    })

    test('has one entry for an act that is done in pieces, and each piece sees those before', async ({
      store,
    }) => {
      const pieceOf = (name: string, piece: string) =>
        store.audit.addPiece(name, (before) => (before ? `${before.text} ${piece}` : piece))
      await pieceOf('act', 'one')
      await store.audit.add('between')
      await pieceOf('other', 'first')
      await Promise.all([pieceOf('act', 'two'), pieceOf('act', 'three')])
      const texts = (await store.audit.list(9)).map(({ text }) => text)
      expect(texts).toHaveLength(3)
      expect(texts[0]).toMatch(/^one (two three|three two)$/)
      expect(texts.slice(1)).toEqual(['first', 'between'])
      expect(await store.audit.addPiece('act', () => undefined)).toBeUndefined()
      expect(await store.audit.list(9)).toHaveLength(3)
    })

    test('holds a bounded number of entries: the oldest go', async ({ store }) => {
      const { entries } = auditBounds
      for (let at = 0; at < entries + 300; at += 100) {
        await Promise.all(
          Array.from({ length: 100 }, (_none, more) => store.audit.add(String(at + more))),
        )
      }
      const all = await store.audit.list(2 * entries)
      expect(all[0]?.text).toBe(String(entries + 299))
      expect(all.length).toBeGreaterThanOrEqual(entries)
      expect(all.length).toBeLessThan(entries + 200)
    })

    test('records of an act are read by all nodes until they were put back, which is known', async () => {
      const world = await open()
      const [here, there] = [await world.node(), await world.node()]
      expect(await here.audit.kept('act')).toEqual({ kind: 'none' })
      expect(await here.audit.keep('act', ['{"one":"é"}', 'two'])).toBe(true)
      expect(await there.audit.kept('act')).toEqual({
        kind: 'kept',
        records: ['{"one":"é"}', 'two'],
      })
      await there.audit.undone('act')
      expect(await here.audit.kept('act')).toEqual({ kind: 'undone' })
      expect(await here.audit.keep('other', ['one'])).toBe(true)
      expect(await there.audit.keptKinds(['act', 'other', 'third'])).toEqual([
        'undone',
        'kept',
        'none',
      ])
    })

    test('records beyond the bytes, or the acts, of a day are not kept', async ({ store }) => {
      const { actBytes, keptBytes, keptActs } = auditBounds
      const longest = 'x'.repeat(actBytes)
      for (let at = 0; at < keptBytes / actBytes; at += 1) {
        expect(await store.audit.keep(`long ${at}`, [longest])).toBe(true)
      }
      expect(await store.audit.keep('too long', ['x'])).toBe(false)
      expect(await store.audit.kept('too long')).toEqual({ kind: 'none' })
      expect(keptActs).toBeGreaterThan(keptBytes / actBytes)
    })

    test('records of as many acts as are kept leave no room for those of another', async ({
      store,
    }) => {
      const { keptActs } = auditBounds
      for (let at = 0; at < keptActs; at += 1) {
        expect(await store.audit.keep(`act ${at}`, ['x'])).toBe(true)
      }
      expect(await store.audit.keep('one more', ['x'])).toBe(false)
    })

    test('all nodes sign sessions with one key', async () => {
      const world = await open()
      const [here, there] = [await world.node(), await world.node()]
      const key = await here.audit.sessionKey()
      expect(key).toHaveLength(32)
      expect(await there.audit.sessionKey()).toEqual(key)
    })
  })
}
