import {
  bucketStarts,
  historySpans,
  type HistoryBucket,
  type HistorySpan,
  type HistoryStore,
  runBounds,
} from '@crossgear/core-scheduler'
import { ContextPart } from './connection/context-part.ts'

/** The store port's part for recent events. */
export class RedisHistory extends ContextPart implements HistoryStore {
  async add(atMs: number, sums: ReadonlyMap<string, number>, of?: string): Promise<void> {
    const { run, keys } = this.context
    const spans = ['minute', 'hour'] as const
    const places = spans.map((span) => keys.history(span, bucketStarts(span, atMs).at(-1) ?? 0, of))
    await run('add-history', places, [...spans.map(keptSeconds), ...[...sums].flat()])
  }

  async addRuns(fn: string, runs: readonly string[]): Promise<void> {
    const { keys, transaction } = this.context
    const key = keys.runs(fn)
    await transaction((commands) => {
      commands.rpush(key, ...runs)
      commands.ltrim(key, -runBounds.kept, -1)
      commands.pexpire(key, runBounds.keptMs)
    })
  }

  async runs(fn: string): Promise<readonly string[]> {
    const { redis, keys, call } = this.context
    return call(() => redis.lrange(keys.runs(fn), 0, -1))
  }

  async read(span: HistorySpan, atMs: number, of?: string): Promise<readonly HistoryBucket[]> {
    const { keys, pipeline } = this.context
    const starts = bucketStarts(span, atMs)
    const replies = (await pipeline((commands) => {
      for (const startMs of starts) commands.hgetall(keys.history(span, startMs, of))
    })) as readonly Readonly<Record<string, string>>[]
    return starts.flatMap((startMs, at) => {
      const entries = Object.entries(replies[at] ?? {})
      if (entries.length === 0) return []
      return [{ startMs, sums: new Map(entries.map(([name, sum]) => [name, Number(sum)])) }]
    })
  }
}

/** Until no reader asks for a bucket any more. */
function keptSeconds(span: HistorySpan): number {
  const { ms, kept } = historySpans[span]
  return ((kept + 1) * ms) / 1000
}
