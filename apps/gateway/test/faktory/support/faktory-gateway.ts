import { Scheduler, type Observer, type SchedulerOptions } from '@crossgear/core-scheduler'
import { RedisStore, type RedisStoreOptions } from '@crossgear/gearmonkey-redis/store'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { FaktoryDoor, type FaktoryDoorOptions } from '../../../src/faktory/faktory-door.ts'
import { systemClock } from '../../../src/net/clock.ts'
import { redisCommand, startRedis, type TestRedis } from '../../support/redis-server.ts'
import { DoorClock } from './door-clock.ts'
import { FwpClient } from './fwp-client.ts'

/** A Faktory door on a scheduler of its own. */
export interface FaktoryGateway {
  readonly scheduler: Scheduler
  readonly door: FaktoryDoor
  readonly clock: DoorClock
  readonly port: number
  readonly rejections: readonly string[]
  /** A connection that has said HELLO. */
  readonly client: (hello?: object) => Promise<FwpClient>
  /** One that has been connected and no more. */
  readonly stranger: () => Promise<FwpClient>
}

export interface GatewayOptions extends Partial<FaktoryDoorOptions> {
  readonly schedulerOptions?: SchedulerOptions
  readonly storeOptions?: RedisStoreOptions
  /** Background tasks may meet errors: the test takes the store away. */
  readonly troubled?: boolean
}

/** What a test file needs: a Redis for the file, and gateways that end with each test. */
export function faktoryGateways(): {
  readonly open: (options?: GatewayOptions) => Promise<FaktoryGateway>
  readonly redis: (...words: readonly string[]) => Promise<string>
} {
  let redis: TestRedis
  let isFresh = true
  const ends: (() => Promise<void>)[] = []

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
    isFresh = true
  })
  afterAll(() => redis.close())

  return {
    redis: (...words) => redisCommand(redis.path, ...words),
    async open({ schedulerOptions, storeOptions, troubled = false, ...options } = {}) {
      if (isFresh) await redisCommand(redis.path, 'FLUSHALL')
      isFresh = false
      const troubles: unknown[] = []
      const store = new RedisStore({ path: redis.path }, storeOptions)
      await store.open()
      const observer = quietObserver((task, error) => troubles.push([task, error]))
      const scheduler = new Scheduler(store, systemClock, observer, schedulerOptions)
      await scheduler.start()
      const clock = new DoorClock()
      const rejections: string[] = []
      const door = new FaktoryDoor({
        scheduler,
        clock,
        host: '127.0.0.1',
        port: 0,
        version: '0.1.0',
        rejected: (reason) => void rejections.push(reason),
        ...options,
      })
      const { port } = await door.listen()
      const clients: FwpClient[] = []
      ends.push(async () => {
        for (const client of clients) client.close()
        await door.close()
        await scheduler.stop().catch(() => undefined)
        await store.close()
        if (!troubled) expect(troubles).toEqual([])
      })
      const kept = (client: FwpClient): FwpClient => {
        clients.push(client)
        return client
      }
      return {
        scheduler,
        door,
        clock,
        port,
        rejections,
        client: async (hello) => kept(await FwpClient.greeted(port, hello)),
        stranger: async () => kept(await FwpClient.connect(port)),
      }
    },
  }
}

function quietObserver(trouble: Observer['trouble']): Observer {
  const ignore = (): void => undefined
  return {
    submitted: ignore,
    assigned: ignore,
    completed: ignore,
    failed: ignore,
    retried: ignore,
    store: ignore,
    repaired: ignore,
    unconfirmed: ignore,
    trouble,
  }
}
