import {
  bucketStarts,
  type HistoryBucket,
  type HistorySpan,
  type HistoryStore,
} from '@crossgear/core-scheduler'
import { MemoryPart } from './memory-part.ts'

/** Events of late in a {@link MemoryWorld}. */
export class MemoryHistory extends MemoryPart implements HistoryStore {
  add(atMs: number, sums: ReadonlyMap<string, number>, of = ''): Promise<void> {
    return this.step((world) => {
      const history = world.historyOf(of)
      for (const span of ['minute', 'hour'] as const) {
        const startMs = bucketStarts(span, atMs).at(-1) ?? 0
        const bucket = history[span].get(startMs) ?? new Map<string, number>()
        history[span].set(startMs, bucket)
        for (const [name, sum] of sums) bucket.set(name, (bucket.get(name) ?? 0) + sum)
      }
    })
  }

  read(span: HistorySpan, atMs: number, of = ''): Promise<readonly HistoryBucket[]> {
    return this.step((world) =>
      bucketStarts(span, atMs).flatMap((startMs) => {
        const sums = world.historyOf(of)[span].get(startMs)
        return sums ? [{ startMs, sums: new Map(sums) }] : []
      }),
    )
  }
}
