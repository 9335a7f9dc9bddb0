import { framed } from '../connection/frames.ts'
import {
  reachableDepth,
  type ConsumerNews,
  type DroppedJob,
  type JobNote,
  type JobPlace,
  type JobRef,
  type JobSet,
  type PausedKind,
  pauseName,
  type PauseNote,
  type QueuedPiece,
  type QueueStore,
  type SetExit,
  type Taken,
} from '@crossgear/core-scheduler'
import { JidIndex } from '../jobs/jid-index.ts'
import type { RedisContext } from '../connection/redis-context.ts'
import { droppedJobs } from '../step/step-reply.ts'

interface Parts {
  readonly context: RedisContext
  readonly deadPerLane: number
  readonly deadSeconds: number
}

/** The store port's part for Faktory queues and sets of jobs. */
export class RedisQueues implements QueueStore {
  readonly #parts: Parts
  readonly #jids: JidIndex

  constructor(parts: Parts) {
    this.#parts = parts
    this.#jids = new JidIndex(parts.context)
  }

  async notifyOfConsumer(wid: string, news: ConsumerNews): Promise<void> {
    const { redis, keys, call } = this.#parts.context
    const words = typeof news === 'string' ? [news] : ['settled', news.settled]
    await call(() => redis.publish(keys.events, framed('worker', wid, ...words)))
  }

  pausedQueues(): Promise<readonly string[]> {
    const { redis, keys, call } = this.#parts.context
    return call(() => redis.smembers(keys.paused))
  }

  setPaused(queues: readonly string[], paused: boolean, note?: PauseNote): Promise<void> {
    return this.#pause('queue', queues, paused, note)
  }

  pausedFunctions(): Promise<readonly string[]> {
    const { redis, keys, call } = this.#parts.context
    return call(() => redis.smembers(keys.pausedFunctions))
  }

  setFunctionsPaused(names: readonly string[], paused: boolean, note?: PauseNote): Promise<void> {
    return this.#pause('function', names, paused, note)
  }

  async pauseNotes(): Promise<ReadonlyMap<string, PauseNote>> {
    const { redis, keys, call } = this.#parts.context
    const notes = await call(() => redis.hgetall(keys.pauseNotes))
    return new Map(
      Object.entries(notes).map(([name, note]) => {
        const space = note.indexOf(' ')
        return [name, { atMs: Number(note.slice(0, space)), who: note.slice(space + 1) }]
      }),
    )
  }

  async #pause(
    kind: PausedKind,
    names: readonly string[],
    paused: boolean,
    note: PauseNote | undefined,
  ): Promise<void> {
    const { keys, transaction } = this.#parts.context
    const key = kind === 'queue' ? keys.paused : keys.pausedFunctions
    const fields = names.map((name) => pauseName(kind, name))
    await transaction((commands) => {
      if (paused) commands.sadd(key, ...names)
      else commands.srem(key, ...names)
      if (paused && note) {
        const text = `${Math.floor(note.atMs)} ${note.who}`
        commands.hset(keys.pauseNotes, ...fields.flatMap((field) => [field, text]))
      } else commands.hdel(keys.pauseNotes, ...fields)
      commands.publish(keys.events, framed('pauses', ''))
    })
  }

  async oldest(lanes: readonly string[]): Promise<readonly (number | undefined)[]> {
    const { run, keys, perLanes } = this.#parts.context
    const reply = await perLanes(
      lanes,
      async (some, first) => (await run('oldest', [keys.queue(first, 'normal')], some)) as Buffer[],
    )
    return reply.map((ms) => (ms.length === 0 ? undefined : Number(ms.toString())))
  }

  async moveJobs(
    lane: string,
    set: JobSet,
    ids: readonly number[],
    to: SetExit,
  ): Promise<readonly number[]> {
    const { deadPerLane, deadSeconds } = this.#parts
    const { run, keys, node } = this.#parts.context
    const args = [
      lane,
      node,
      this.#parts.context.queueOf(lane),
      set,
      typeof to === 'object' ? Math.floor(to.dueAtMs) : to,
      deadPerLane,
      deadSeconds,
      ...ids,
    ]
    return numbersOf((await run('move-jobs', [keys.busy(lane)], args)) as Buffer[])
  }

  async endJobs(
    lane: string,
    places: readonly JobPlace[],
    max: number,
  ): Promise<readonly number[]> {
    const { run, keys, node } = this.#parts.context
    const args = [lane, node, max, this.#parts.context.queueOf(lane), ...places]
    return numbersOf((await run('end-jobs', [keys.busy(lane)], args)) as Buffer[])
  }

  async endQueued(piece: QueuedPiece, as: Taken): Promise<readonly number[] | 'deep'> {
    const { run, keys, node } = this.#parts.context
    const { lane, band, from, count, ids } = piece
    const queue = this.#parts.context.queueOf(lane)
    const args = [lane, node, from, count, reachableDepth, as, queue, ...ids]
    const reply = (await run('end-queued', [keys.queue(lane, band)], args)) as Buffer[] | number
    return typeof reply === 'number' ? 'deep' : numbersOf(reply)
  }

  async endStale(lanes: readonly string[], max: number): Promise<readonly DroppedJob[]> {
    const { deadPerLane, deadSeconds } = this.#parts
    const { run, keys, perLanesThere } = this.#parts.context
    return perLanesThere(lanes, async (some, first) => {
      const args = [deadPerLane, deadSeconds, max, ...this.#parts.context.withQueues(some)]
      return droppedJobs((await run('end-stale', [keys.queue(first, 'normal')], args)) as Buffer[])
    })
  }

  async markRemoved(lane: string): Promise<void> {
    const { run, keys } = this.#parts.context
    await run('remove-lane', [keys.meta(lane)], [lane])
  }

  async resetTotals(lane: string): Promise<void> {
    const { run, keys } = this.#parts.context
    await run('reset-totals', [keys.meta(lane)], [lane])
  }

  findFinished(jid: string): Promise<JobRef | undefined> {
    return this.#jids.findEnded(jid)
  }

  async note({ lane, id }: JobRef, token: string | undefined, note: JobNote): Promise<boolean> {
    const { run, keys } = this.#parts.context
    const { text, percent = '' } = note
    const reserveUntilMs = token === undefined ? '' : (note.reserveUntilMs ?? '')
    const words = [text ?? '', text === undefined ? '' : '1', reserveUntilMs, percent]
    return (await run('note', [keys.busy(lane)], [lane, id, token ?? '', ...words])) === 1
  }
}

function numbersOf(ids: readonly Buffer[]): number[] {
  return ids.map((id) => Number(id.toString()))
}
