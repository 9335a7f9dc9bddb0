import { Scheduler, type SchedulerOptions } from '@crossgear/core-scheduler'
import { RecordingObserver } from '@crossgear/core-scheduler/testing'
import { RedisStore } from '@crossgear/gearmonkey-redis/store'
import { checkInvariants } from '@crossgear/gearmonkey-redis/invariants'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import type { GearmanDoorOptions } from '../../../src/gearman/door-options.ts'
import { GearmanDoor } from '../../../src/gearman/gearman-door.ts'
import { systemClock } from '../../../src/net/clock.ts'
import { redisCommand, startRedis, type TestRedis } from '../../support/redis-server.ts'
import { GearmanPeer } from './gearman-peer.ts'

/** A Gearman door on a scheduler of its own. */
export interface GearmanGateway {
  readonly scheduler: Scheduler
  readonly door: GearmanDoor
  readonly port: number
  readonly rejections: readonly string[]
  readonly shutdowns: readonly boolean[]
  peer(): Promise<GearmanPeer>
  /** A connection that can do these functions. */
  worker(...functions: readonly string[]): Promise<GearmanPeer>
}

export interface GatewayOptions extends Partial<GearmanDoorOptions> {
  readonly schedulerOptions?: SchedulerOptions
  /** Background tasks may meet errors: the test takes the store away. */
  readonly troubled?: boolean
}

/** What a test file needs: a Redis for the file, and gateways that end with each test. */
export function gearmanGateways(): {
  readonly open: (options?: GatewayOptions) => Promise<GearmanGateway>
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
    const connection = new Redis(redis.path)
    expect(await checkInvariants(connection), 'what is wrong in the store').toEqual([])
    connection.disconnect()
  })
  afterAll(() => redis.close())

  return {
    redis: (...words) => redisCommand(redis.path, ...words),
    open: async ({ schedulerOptions, troubled = false, ...options } = {}) => {
      if (isFresh) await redisCommand(redis.path, 'FLUSHALL')
      isFresh = false
      const observer = new RecordingObserver()
      const store = new RedisStore({ path: redis.path })
      await store.open()
      const scheduler = new Scheduler(store, systemClock, observer, schedulerOptions)
      await scheduler.start()
      const rejections: string[] = []
      const shutdowns: boolean[] = []
      const door = new GearmanDoor({
        scheduler,
        host: '127.0.0.1',
        port: 0,
        maxConnections: 1000,
        handlePrefix: 'H:test',
        version: '0.1.0',
        rejected: (reason) => void rejections.push(reason),
        shutdown: (graceful) => void shutdowns.push(graceful),
        ...options,
      })
      const { port } = await door.listen()
      const peers: GearmanPeer[] = []
      ends.push(async () => {
        await Promise.all(peers.map((peer) => peer.leave()))
        await door.close()
        await scheduler.stop().catch(() => undefined)
        await store.close()
        if (!troubled) expect(observer.troubles).toEqual([])
      })
      const peer = async (): Promise<GearmanPeer> => {
        const connected = await GearmanPeer.connect(port)
        peers.push(connected)
        return connected
      }
      const worker = async (...functions: readonly string[]): Promise<GearmanPeer> => {
        const able = await peer()
        for (const fn of functions) able.say('CAN_DO', fn)
        return able
      }
      return { scheduler, door, port, rejections, shutdowns, peer, worker }
    },
  }
}
