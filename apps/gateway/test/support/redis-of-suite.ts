import { afterAll, beforeAll, beforeEach } from 'vitest'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'

/** A Redis for the tests of the file or suite, emptied before each of them if it is to be; none where there is no Redis. */
export function redisOfSuite({ isEmptied = false } = {}): () => RedisServer {
  let redis: RedisServer | undefined
  beforeAll(async () => {
    if (!lacksRedis) redis = await RedisServer.start()
  })
  if (isEmptied) beforeEach(() => redis?.ask('FLUSHALL'))
  afterAll(() => redis?.stop())
  return () => redis!
}
