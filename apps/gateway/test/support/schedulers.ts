import { Scheduler, type Clock, type SchedulerOptions } from '@crossgear/core-scheduler'
import { RecordingObserver } from '@crossgear/tools/recording-observer'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import { RedisStore, type RedisStoreOptions } from '@crossgear/redis-store'
import type { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { RedisServer } from '@crossgear/tools/redis-server'
import { FaktoryRetries } from '../../src/bridge/faktory-retries.ts'
import { systemClock } from '../../src/doors/net/clock.ts'

export interface SchedulerSettings {
  readonly schedulerOptions?: SchedulerOptions | undefined
  readonly storeOptions?: RedisStoreOptions | undefined
  readonly schedulerClock?: Clock | undefined
  /** Background tasks may meet errors: the test takes the store away. */
  readonly troubled?: boolean
}

/** Schedulers that a test file puts doors on. */
export interface Schedulers {
  /** A scheduler that has started; it ends with its test, as do the connections and doors of `close`. */
  readonly start: (settings: SchedulerSettings, close: () => Promise<unknown>) => Promise<Scheduler>
  /** One command by hand; its reply as text. */
  readonly redis: (command: string, ...words: readonly string[]) => Promise<string>
  /** A connection to the Redis of the file, which ends with it. */
  readonly connection: () => Redis
}

/** The system's clock, until its background looks are stopped: from then on some timers alone run, the short ones. */
export function stoppableLooks(runs = (ms: number): boolean => ms < 100): {
  readonly clock: Clock
  readonly stop: () => void
} {
  let areStopped = false
  const after: Clock['after'] = (ms, task) =>
    systemClock.after(ms, () => {
      if (!areStopped || runs(ms)) task()
    })
  return { clock: { ...systemClock, after }, stop: () => (areStopped = true) }
}

/** A Redis for the file, empty at the start of each test, and in order at its end. */
export function schedulersOfFile(): Schedulers {
  let redis: RedisServer
  let connection: Redis
  let isFresh = true
  const ends: (() => Promise<void>)[] = []

  beforeAll(async () => {
    redis = await RedisServer.start()
    connection = redis.connect()
  })
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
    isFresh = true
    expect(await checkInvariants(connection), 'what is wrong in the store').toEqual([])
  })
  afterAll(() => redis.stop())

  return {
    redis: (command, ...words) => redis.ask(command, ...words),
    connection: () => connection,
    async start({ schedulerOptions, storeOptions, schedulerClock, troubled = false }, close) {
      if (isFresh) await connection.flushall()
      isFresh = false
      const observer = new RecordingObserver()
      const store = new RedisStore({ path: redis.path }, storeOptions)
      await store.open()
      const scheduler = new Scheduler(store, schedulerClock ?? systemClock, observer, {
        retryRules: new FaktoryRetries(),
        ...schedulerOptions,
      })
      await scheduler.start()
      ends.push(async () => {
        await close()
        await scheduler.stop().catch(() => undefined)
        await store.close()
        if (!troubled) expect(observer.errors).toEqual([])
      })
      return scheduler
    },
  }
}
