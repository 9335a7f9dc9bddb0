import type { HistorySpan } from '@crossgear/core-scheduler'
import { describe, expect } from 'vitest'
import type { SteppedStore } from '../store-world.ts'
import type { ContractTests } from '../kit.ts'

const [minuteMs, hourMs] = [60_000, 3_600_000]
/** The begin of an hour. */
const startMs = 500_000 * hourMs

const read = async (store: SteppedStore, span: HistorySpan, atMs: number): Promise<unknown> =>
  (await store.history.read(span, atMs)).map(({ startMs: ms, sums }) => [
    (ms - startMs) / minuteMs,
    Object.fromEntries(sums),
  ])

/** Events of late. */
export function historyContract({ open, test }: ContractTests): void {
  describe('history', () => {
    test('sums of all nodes, by minute and by hour', async ({ world }) => {
      const [here, there] = [await world.node(), await world.node()]
      await here.history.add(startMs + 1, new Map([['completed', 2]]))
      await there.history.add(
        startMs + minuteMs - 1,
        new Map([
          ['completed', 3],
          ['failed', 1],
        ]),
      )
      await there.history.add(startMs + 2 * minuteMs, new Map([['completed', 10]]))
      expect(await read(there, 'minute', startMs + 2 * minuteMs)).toEqual([
        [0, { completed: 5, failed: 1 }],
        [2, { completed: 10 }],
      ])
      expect(await read(here, 'hour', startMs + 2 * minuteMs)).toEqual([
        [0, { completed: 15, failed: 1 }],
      ])
    })

    test('sums of one thing stand apart from those of others and of the whole', async () => {
      const { history } = await (await open()).node()
      await history.add(startMs, new Map([['completed', 1]]))
      await history.add(startMs, new Map([['completed', 2]]), 'f:mail')
      await history.add(startMs, new Map([['completed', 4]]), 'q:mail')
      await history.add(startMs + 1, new Map([['completed', 8]]), 'f:mail')
      const sumsOf = async (span: HistorySpan, of?: string): Promise<unknown> =>
        (await history.read(span, startMs, of)).map(({ sums }) => sums.get('completed'))
      for (const span of ['minute', 'hour'] as const) {
        expect(await sumsOf(span)).toEqual([1])
        expect(await sumsOf(span, 'f:mail')).toEqual([10])
        expect(await sumsOf(span, 'q:mail')).toEqual([4])
        expect(await sumsOf(span, 'f:none')).toEqual([])
      }
    })

    test('the last 60 minutes and 24 hours, and none before', async ({ store }) => {
      for (const atMs of [startMs, startMs + minuteMs, startMs + 24 * hourMs]) {
        await store.history.add(atMs, new Map([['completed', 1]]))
      }
      expect(await read(store, 'minute', startMs + hourMs)).toEqual([[1, { completed: 1 }]])
      expect(await read(store, 'hour', startMs + 23 * hourMs)).toEqual([[0, { completed: 2 }]])
      expect(await read(store, 'hour', startMs + 24 * hourMs)).toEqual([
        [24 * 60, { completed: 1 }],
      ])
    })
  })
}
