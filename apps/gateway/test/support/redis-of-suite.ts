import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest'
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

/** A Redis that ends with the test. `words` are added to its command line. */
export async function redisOfTest(...words: string[]): Promise<RedisServer> {
  const redis = await RedisServer.start(...words)
  onTestFinished(() => redis.stop())
  return redis
}
